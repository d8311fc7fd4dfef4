"""What does the container that wakes engines look like, and who may hold the pod's token? Only that container."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.durations import format_duration
from firebolt_operator.gateway.envoy.clusters import LOOPBACK, REPLAY_BUFFER_BYTES
from firebolt_operator.gateway.hardening import AGENT_USER, hardened
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.refs import Manifest

SERVICE_ACCOUNT_FOLDER: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
TOKEN_SECONDS: Final = 3600


def wake_agent_container(inputs: GatewayInputs, envoy: Manifest) -> Manifest:
    """No probes: an unready agent would take a healthy Envoy out of the Service, and a restart drops held queries."""
    times = inputs.times
    pull = {"imagePullPolicy": inputs.wake_agent_pull_policy} if inputs.wake_agent_pull_policy else {}
    return {
        "name": names.CONTAINER_WAKE_AGENT,
        "image": inputs.wake_agent_image,
        **pull,
        "args": [
            "wake-agent",
            f"--hold-port={names.PORT_WAKE_HOLD}",
            f"--metrics-port={names.PORT_WAKE_METRICS}",
            f"--envoy-admin-url=http://{LOOPBACK}:{names.PORT_ENVOY_ADMIN}",
            f"--per-hold-bytes={REPLAY_BUFFER_BYTES}",
            f"--hold-timeout={format_duration(times.hold)}",
            f"--drain-timeout={times.drain_seconds}s",
            *([f"--instance={inputs.instance.metadata.name}"] if times.outlasts_its_instance else []),
        ],
        "env": [_namespace_variable(), *([_memory_variable()] if _has_memory_limit(envoy) else [])],
        "ports": [{"name": "wake-metrics", "containerPort": names.PORT_WAKE_METRICS, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": hardened(AGENT_USER),
        "volumeMounts": [
            {"name": names.VOLUME_GATEWAY_AGENT_TOKEN, "mountPath": SERVICE_ACCOUNT_FOLDER, "readOnly": True}
        ],
    }


def token_volume() -> Manifest:
    """What Kubernetes would mount into every container, as a volume of its own for one."""
    namespace = {"path": "namespace", "fieldRef": {"fieldPath": "metadata.namespace"}}
    return {
        "name": names.VOLUME_GATEWAY_AGENT_TOKEN,
        "projected": {
            "sources": [
                {"serviceAccountToken": {"path": "token", "expirationSeconds": TOKEN_SECONDS}},
                {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
                {"downwardAPI": {"items": [namespace]}},
            ]
        },
    }


def _namespace_variable() -> Manifest:
    return {"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}


def _memory_variable() -> Manifest:
    reference = {"containerName": names.CONTAINER_ENVOY, "resource": "limits.memory"}
    return {"name": "ENVOY_MEMORY_LIMIT_BYTES", "valueFrom": {"resourceFieldRef": reference}}


def _has_memory_limit(envoy: Manifest) -> bool:
    # Without a limit Kubernetes would report the node's memory, and the agent would hold far too many queries.
    return "memory" in mapping(mapping(envoy.get("resources")).get("limits"))
