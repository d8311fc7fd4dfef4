"""The metadata service: its ConfigMap, its Deployment and its Service."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.labels import component_labels
from firebolt_operator.instance.database_login import KEY_PASSWORD, KEY_USERNAME, authority_in_use, credentials_in_use
from firebolt_operator.instance.render.metadata_config import ConfigFile, metadata_config
from firebolt_operator.manifests.components import (
    ComponentPod,
    component_metadata,
    merged_component_pod,
    primary_container,
    user_pod_spec,
)
from firebolt_operator.manifests.hashes import canonical_json, content_hash
from firebolt_operator.manifests.images import workload_pull_policy
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.manifests.secret_mounts import SecretMount, secret_volume
from firebolt_operator.policy.component_rules import METADATA
from firebolt_operator.policy.protected_secrets import keeps_volume, protected_secret_names
from firebolt_operator.refs import Manifest

UID: Final = 1111
UID_NG: Final = 1112
CONFIG_FOLDER: Final = "/configs"
CREDENTIALS_FOLDER: Final = "/secrets/postgres"
AUTHORITY_FOLDER: Final = "/secrets/postgres-ca"
AUTHORITY_FILE: Final = "ca.crt"
UNSAFE_SECCOMP: Final = (None, "", "Unconfined")


def metadata_config_map(instance: FireboltInstance) -> Manifest:
    config = metadata_config(instance)
    name = names.metadata_config_name(instance.metadata.name)
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": component_metadata(instance, name, names.COMPONENT_METADATA),
        "data": {config.name: config.text},
    }


def metadata_service(instance: FireboltInstance) -> Manifest:
    name = names.metadata_name(instance.metadata.name)
    port = {"name": "grpc", "port": names.PORT_METADATA, "targetPort": names.PORT_METADATA, "protocol": "TCP"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": component_metadata(instance, name, names.COMPONENT_METADATA),
        "spec": {
            "type": "ClusterIP",
            "selector": component_labels(instance.metadata.name, names.COMPONENT_METADATA),
            "ports": [port],
        },
    }


def metadata_deployment(instance: FireboltInstance, image: str, login_digest: str = "") -> Manifest:
    name = names.metadata_name(instance.metadata.name)
    replicas = instance.spec.metadata.replicas
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": component_metadata(instance, name, names.COMPONENT_METADATA),
        "spec": {
            "replicas": 1 if replicas is None else replicas,
            "selector": {"matchLabels": component_labels(instance.metadata.name, names.COMPONENT_METADATA)},
            # Two services must never write to one database. `maxSurge: 0` would not keep them apart: a rolling update
            # does not count a pod that is still terminating.
            "strategy": {"type": "Recreate"},
            "template": _pod_template(instance, image, login_digest),
        },
    }


def _pod_template(instance: FireboltInstance, default_image: str, login_digest: str) -> Manifest:
    template = instance.spec.metadata.template
    config = metadata_config(instance)
    ours = ComponentPod(
        primary=METADATA.primary,
        labels=component_labels(instance.metadata.name, names.COMPONENT_METADATA),
        annotations={names.ANNOTATION_CONFIG_HASH: _hash(config, login_digest)},
        container=_container(instance, default_image, config),
        volumes=[
            {
                "name": names.VOLUME_METADATA_CONFIG,
                "configMap": {"name": names.metadata_config_name(instance.metadata.name)},
            },
            secret_volume(_login(instance)),
            {"name": names.VOLUME_METADATA_TMP, "emptyDir": {}},
            *_authority_volumes(instance),
        ],
        fields={
            "terminationGracePeriodSeconds": 30,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": _pod_security(instance),
        },
        keeps_volume=keeps_volume(METADATA, protected_secret_names(instance)),
    )
    return merged_component_pod(template, ours)


def _login(instance: FireboltInstance) -> SecretMount:
    """Of a Secret of the user's own only what is asked for: whatever else is in it is none of our business."""
    is_external = instance.spec.metadata.postgres is not None
    return SecretMount(
        volume=names.VOLUME_METADATA_CREDENTIALS,
        secret=credentials_in_use(instance),
        path=CREDENTIALS_FOLDER,
        keys=(KEY_USERNAME, KEY_PASSWORD) if is_external else (),
    )


def _hash(config: ConfigFile, login_digest: str) -> str:
    """The internal database's password never changes, and has no part in it."""
    return content_hash(canonical_json([config.text, login_digest]) if login_digest else config.text)


def _authority_volumes(instance: FireboltInstance) -> list[Manifest]:
    authority = authority_in_use(instance)
    if authority is None:
        return []
    selected = {"secretName": authority.name, "items": [{"key": authority.key, "path": AUTHORITY_FILE}]}
    return [{"name": names.VOLUME_METADATA_POSTGRES_CA, "secret": selected}]


def _authority_mounts(instance: FireboltInstance) -> list[Manifest]:
    if authority_in_use(instance) is None:
        return []
    return [{"name": names.VOLUME_METADATA_POSTGRES_CA, "mountPath": AUTHORITY_FOLDER, "readOnly": True}]


def _authority_environment(instance: FireboltInstance) -> list[Manifest]:
    if authority_in_use(instance) is None:
        return []
    return [
        {"name": "PGSSLMODE", "value": "verify-full"},
        {"name": "PGSSLROOTCERT", "value": f"{AUTHORITY_FOLDER}/{AUTHORITY_FILE}"},
    ]


def _container(instance: FireboltInstance, default_image: str, config: ConfigFile) -> Manifest:
    template = instance.spec.metadata.template
    image = primary_container(template, METADATA.primary, {"image": default_image})["image"]
    return {
        "name": names.CONTAINER_METADATA,
        "image": image,
        "imagePullPolicy": workload_pull_policy(image),
        "command": ["/dedicated-pensieve", "--config", f"{CONFIG_FOLDER}/{config.name}"],
        "ports": [{"name": "grpc", "containerPort": names.PORT_METADATA, "protocol": "TCP"}],
        "env": [
            {"name": "POSTGRES_USERNAME_FILE", "value": f"{CREDENTIALS_FOLDER}/username"},
            {"name": "POSTGRES_PASSWORD_FILE", "value": f"{CREDENTIALS_FOLDER}/password"},
            *_authority_environment(instance),
        ],
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _uid(instance),
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "livenessProbe": {
            "tcpSocket": {"port": names.PORT_METADATA},
            "initialDelaySeconds": 2,
            "periodSeconds": 10,
            "failureThreshold": 3,
        },
        "readinessProbe": {
            "grpc": {"port": names.PORT_METADATA, "service": ""},
            "initialDelaySeconds": 2,
            "periodSeconds": 5,
            "failureThreshold": 3,
        },
        "volumeMounts": [
            {"name": names.VOLUME_METADATA_CONFIG, "mountPath": CONFIG_FOLDER, "readOnly": True},
            {"name": names.VOLUME_METADATA_CREDENTIALS, "mountPath": CREDENTIALS_FOLDER, "readOnly": True},
            {"name": names.VOLUME_METADATA_TMP, "mountPath": "/tmp"},  # noqa: S108 - the container's own
            *_authority_mounts(instance),
        ],
    }


def _uid(instance: FireboltInstance) -> int:
    return UID_NG if instance.spec.metadata_ng else UID


def _pod_security(instance: FireboltInstance) -> Manifest:
    """The user's, raised to the floor: the image's own user, and a seccomp profile that filters."""
    chosen = mapping(user_pod_spec(instance.spec.metadata.template).get("securityContext"))
    seccomp = mapping(chosen.get("seccompProfile"))
    return {
        **chosen,
        "runAsNonRoot": True,
        "runAsUser": _uid(instance),
        "runAsGroup": _uid(instance),
        "seccompProfile": {"type": "RuntimeDefault"} if seccomp.get("type") in UNSAFE_SECCOMP else seccomp,
    }
