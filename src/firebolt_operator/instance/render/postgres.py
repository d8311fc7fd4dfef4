"""The internal PostgreSQL: its credentials, its StatefulSet and its Service."""

from typing import Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.labels import component_labels
from firebolt_operator.api.postgres_storage import DEFAULT_RESOURCES
from firebolt_operator.instance.database_login import DATABASE, KEY_DATABASE, KEY_PASSWORD, KEY_USERNAME, USER
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.manifests.images import component_pull_policy
from firebolt_operator.refs import Manifest

UID: Final = 70  # the postgres user of the Alpine image
PORT_NAME: Final = "tcp-postgresql"
MOUNT: Final = "/var/lib/postgresql/data"
# A directory that the process makes itself: fsGroup sets the group of the mount root but not its owner, so the
# chmod 0700 of initdb would fail there.
DATA_DIRECTORY: Final = f"{MOUNT}/pgdata"
PROBE_TIMEOUT_SECONDS: Final = 5  # Kubernetes' own second is short for a program that a busy node has to start
_ANSWERS: Final[Manifest] = {
    "exec": {"command": ["pg_isready", "-U", USER]},
    "timeoutSeconds": PROBE_TIMEOUT_SECONDS,
}


def postgres_credentials(instance: FireboltInstance, password: str) -> Manifest:
    """To be created, never applied: an apply would replace the password that the database was initialised with."""
    name = names.metadata_credentials_name(instance.metadata.name)
    metadata = component_metadata(instance, name, names.COMPONENT_POSTGRES)
    if instance.spec.metadata.postgres_storage.is_kept:
        # Without an owner, so that Kubernetes does not delete it with the instance.
        del metadata["ownerReferences"]
        metadata["annotations"] = {names.ANNOTATION_INSTANCE_ID: instance.spec.id}
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": metadata,
        "type": "Opaque",
        "stringData": {KEY_USERNAME: USER, KEY_PASSWORD: password, KEY_DATABASE: DATABASE},
    }


def postgres_service(instance: FireboltInstance) -> Manifest:
    name = names.postgres_name(instance.metadata.name)
    port = {"name": PORT_NAME, "port": names.PORT_POSTGRES, "targetPort": names.PORT_POSTGRES, "protocol": "TCP"}
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": component_metadata(instance, name, names.COMPONENT_POSTGRES),
        "spec": {
            "clusterIP": "None",
            "selector": component_labels(instance.metadata.name, names.COMPONENT_POSTGRES),
            "ports": [port],
        },
    }


def postgres_statefulset(instance: FireboltInstance, image: str) -> Manifest:
    name = names.postgres_name(instance.metadata.name)
    labels = component_labels(instance.metadata.name, names.COMPONENT_POSTGRES)
    size = instance.spec.metadata.postgres_storage.size
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": component_metadata(instance, name, names.COMPONENT_POSTGRES),
        "spec": {
            "replicas": 1,
            "serviceName": name,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": _pod(instance, image)},
            "volumeClaimTemplates": [
                {
                    # Named in full: the server fills both in, and an absent one would look like drift for ever.
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "metadata": {"name": "data", "labels": labels},
                    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}},
                }
            ],
        },
    }


def _pod(instance: FireboltInstance, image: str) -> Manifest:
    return {
        "enableServiceLinks": False,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": UID,
            "runAsGroup": UID,
            "fsGroup": UID,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [_container(instance, image)],
        "volumes": [{"name": "run-postgresql", "emptyDir": {}}, {"name": "tmp", "emptyDir": {}}],
    }


def _container(instance: FireboltInstance, image: str) -> Manifest:
    credentials = names.metadata_credentials_name(instance.metadata.name)
    resources = instance.spec.metadata.postgres_storage.resources or DEFAULT_RESOURCES
    return {
        "name": "postgresql",
        "image": image,
        "imagePullPolicy": component_pull_policy(image),
        "ports": [{"name": PORT_NAME, "containerPort": names.PORT_POSTGRES, "protocol": "TCP"}],
        "env": [
            _from_secret("POSTGRES_USER", credentials, KEY_USERNAME),
            _from_secret("POSTGRES_PASSWORD", credentials, KEY_PASSWORD),
            _from_secret("POSTGRES_DB", credentials, KEY_DATABASE),
            {"name": "PGDATA", "value": DATA_DIRECTORY},
        ],
        "resources": msgspec.to_builtins(resources),
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": UID,
            "readOnlyRootFilesystem": True,
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [
            {"name": "data", "mountPath": MOUNT},
            {"name": "run-postgresql", "mountPath": "/var/run/postgresql"},  # socket and pid file
            {"name": "tmp", "mountPath": "/tmp"},  # noqa: S108 - the container's own; initdb writes here
        ],
        # Ten minutes: a liveness probe alone would kill the recovery after a crash, and the next one as well.
        "startupProbe": {**_ANSWERS, "periodSeconds": 5, "failureThreshold": 120},
        "readinessProbe": {
            "tcpSocket": {"port": names.PORT_POSTGRES},
            "initialDelaySeconds": 1,
            "periodSeconds": 5,
            "timeoutSeconds": PROBE_TIMEOUT_SECONDS,
        },
        "livenessProbe": {**_ANSWERS, "initialDelaySeconds": 5, "periodSeconds": 10},
    }


def _from_secret(variable: str, secret: str, key: str) -> Manifest:
    return {"name": variable, "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
