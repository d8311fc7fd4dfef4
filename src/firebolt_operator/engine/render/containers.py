"""What does the engine container look like?"""

from importlib import resources
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.template import ENGINE_USER, EffectiveTemplate
from firebolt_operator.engine.render.volumes import engine_mounts
from firebolt_operator.manifests.images import engine_pull_policy, kubernetes_pull_policy
from firebolt_operator.manifests.reading import mappings, text
from firebolt_operator.refs import Manifest

START_SCRIPT: Final = (
    resources.files("firebolt_operator.engine.render").joinpath("start_engine.sh").read_text(encoding="utf-8").strip()
)


def engine_container(inputs: EngineInputs, template: EffectiveTemplate) -> Manifest:
    user = template.engine
    image = text(user.get("image")) or inputs.images.engine
    return {
        "securityContext": hardened_security_context(),
        **user,
        "name": names.CONTAINER_ENGINE,
        "image": image,
        "imagePullPolicy": user.get("imagePullPolicy") or engine_pull_policy(image),
        "command": ["/bin/bash", "-c"],
        "args": [START_SCRIPT],
        "ports": [
            {"name": "http-query", "containerPort": names.PORT_QUERY, "protocol": "TCP"},
            {"name": "health", "containerPort": names.PORT_ENGINE_HEALTH, "protocol": "TCP"},
            {"name": "metrics", "containerPort": names.PORT_ENGINE_METRICS, "protocol": "TCP"},
        ],
        "env": [*_operator_env(), *mappings(user.get("env"))],
        "volumeMounts": engine_mounts(inputs, mappings(user.get("volumeMounts"))),
        "readinessProbe": {
            "httpGet": {"path": "/health/ready", "port": names.PORT_ENGINE_HEALTH},
            "initialDelaySeconds": 1,
            "periodSeconds": 3,
            "timeoutSeconds": 3,
            "failureThreshold": 6,
        },
        "livenessProbe": {
            "httpGet": {"path": "/health/live", "port": names.PORT_ENGINE_HEALTH},
            "initialDelaySeconds": 2,
            "periodSeconds": 5,
            "timeoutSeconds": 3,
            "failureThreshold": 6,
        },
        "startupProbe": {
            "httpGet": {"path": "/health/live", "port": names.PORT_ENGINE_HEALTH},
            "periodSeconds": 5,
            "timeoutSeconds": 3,
            "failureThreshold": 30,
        },
    }


def hardened_security_context() -> Manifest:
    """Taken whole or not at all: a user's own context gets none of it, or it could not be loosened."""
    return {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "runAsNonRoot": True,
        "runAsUser": ENGINE_USER,
        "runAsGroup": ENGINE_USER,
        "capabilities": {"drop": ["ALL"]},
    }


def _operator_env() -> list[Manifest]:
    pod_index = "metadata.labels['apps.kubernetes.io/pod-index']"
    return [
        {"name": names.ENV_POD_INDEX, "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": pod_index}}},
        {"name": names.ENV_EC2_METADATA, "value": "true"},
    ]


def ui_sidecar(inputs: EngineInputs, template: EffectiveTemplate) -> Manifest:
    image = inputs.images.ui
    core_url = f"{inputs.instance.scheme}://localhost:{names.PORT_QUERY}"
    return {
        "name": names.CONTAINER_ENGINE_WEB,
        "image": image,
        # A policy asked for on the engine container is meant for the pod: an air-gapped node has neither image.
        "imagePullPolicy": template.engine.get("imagePullPolicy") or kubernetes_pull_policy(image),
        "env": [{"name": "FIREBOLT_CORE_URL", "value": core_url}],
        "ports": [{"name": "web-ui", "containerPort": names.PORT_WEB_UI, "protocol": "TCP"}],
        # Without a probe a crash-looping sidecar is ready for an instant, which may be the one that decides promotion.
        "readinessProbe": {
            "httpGet": {"path": "/", "port": names.PORT_WEB_UI, "scheme": "HTTP"},
            "initialDelaySeconds": 1,
            "periodSeconds": 3,
            "timeoutSeconds": 2,
            "successThreshold": 1,
            "failureThreshold": 3,
        },
        "resources": {"requests": {"cpu": "25m", "memory": "128Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": hardened_security_context(),
        "volumeMounts": [
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/tmp"},  # noqa: S108 - nginx's folder in a volume of its own
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/cache/nginx"},
            {"name": names.VOLUME_ENGINE_WEB, "mountPath": "/var/run/nginx"},
        ],
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
    }
