"""What does the Envoy container look like?"""

from importlib.resources import files
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.http_filters import HEALTH_PATH
from firebolt_operator.gateway.hardening import ENVOY_USER, hardened
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.manifests.images import component_pull_policy
from firebolt_operator.manifests.secret_mounts import SecretMount, secret_volume
from firebolt_operator.refs import Manifest

CONFIG_FOLDER: Final = "/etc/envoy"
CONFIG_KEY: Final = "envoy.yaml"
METRICS_PORT_NAME: Final = "metrics"


def envoy_container(inputs: GatewayInputs) -> Manifest:
    metrics_port = inputs.instance.spec.gateway.metrics_port
    return {
        "name": names.CONTAINER_ENVOY,
        "image": inputs.image,
        "imagePullPolicy": component_pull_policy(inputs.image),
        "args": ["envoy", "-c", f"{CONFIG_FOLDER}/{CONFIG_KEY}"],
        "ports": [
            {"name": "http", "containerPort": names.PORT_GATEWAY, "protocol": "TCP"},
            {"name": METRICS_PORT_NAME, "containerPort": metrics_port, "protocol": "TCP"},
        ],
        "lifecycle": envoy_lifecycle(inputs.times.drain_seconds),
        "livenessProbe": {**_probe(), "periodSeconds": 15, "timeoutSeconds": 3},
        "readinessProbe": {**_probe(), "periodSeconds": 2, "timeoutSeconds": 2, "failureThreshold": 2},
        "securityContext": hardened(ENVOY_USER),
        "volumeMounts": [
            {"name": names.VOLUME_GATEWAY_CONFIG, "mountPath": CONFIG_FOLDER, "readOnly": True},
            {"name": names.VOLUME_GATEWAY_TMP, "mountPath": "/tmp"},  # noqa: S108 - a volume of the pod
            *(_secret_mount(mount) for mount in inputs.tls.mounts),
        ],
    }


def envoy_volumes(inputs: GatewayInputs) -> list[Manifest]:
    config_map = {
        "name": names.gateway_config_name(inputs.instance.metadata.name),
        "items": [{"key": CONFIG_KEY, "path": CONFIG_KEY}],
    }
    return [
        {"name": names.VOLUME_GATEWAY_CONFIG, "configMap": config_map},
        {"name": names.VOLUME_GATEWAY_TMP, "emptyDir": {}},
        *(secret_volume(mount) for mount in inputs.tls.mounts),
    ]


def _probe() -> Manifest:
    # On the metrics port, by plain HTTP: the client listener may demand certificates that no kubelet has.
    return {
        "httpGet": {"path": HEALTH_PATH, "port": METRICS_PORT_NAME, "scheme": "HTTP"},
        "initialDelaySeconds": 1,
    }


def _secret_mount(mount: SecretMount) -> Manifest:
    return {"name": mount.volume, "mountPath": mount.path, "readOnly": True}


DRAIN_SCRIPT: Final = files("firebolt_operator.gateway").joinpath("drain.sh").read_text(encoding="utf-8")


def envoy_lifecycle(grace_seconds: int) -> Manifest:
    script = f"GRACE_SECONDS={grace_seconds}\n{DRAIN_SCRIPT}"
    return {"preStop": {"exec": {"command": ["bash", "-c", script]}}}
