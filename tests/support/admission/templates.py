"""Pod templates with every field that is the operator's own, and with everything that is not."""

from typing import Any, Final

from firebolt_operator.refs import Manifest

METADATA_FIELDS: Final[Manifest] = {
    "name": "x",
    "generateName": "x-",
    "namespace": "x",
    "uid": "x",
    "resourceVersion": "1",
    "generation": 1,
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 0,
    "ownerReferences": [{"name": "x"}],
    "finalizers": ["example.com/x"],
    "managedFields": [{"manager": "x"}],
}
POD_FIELDS: Final[Manifest] = {
    "terminationGracePeriodSeconds": 0,
    "subdomain": "x",
    "hostname": "x",
    "restartPolicy": "Always",
    "activeDeadlineSeconds": 0,
    "hostNetwork": True,
    "hostPID": True,
    "hostIPC": True,
    "shareProcessNamespace": False,
    "hostUsers": True,
    "enableServiceLinks": False,
    "serviceAccount": "x",
}
"""Zero, false and true where a person might take them for the default: whoever writes them means them."""
UNSET_POD_FIELDS: Final[Manifest] = {
    "subdomain": "",
    "hostname": "",
    "hostNetwork": False,
    "hostPID": False,
    "hostIPC": False,
}
PRIMARY_FIELDS: Final[Manifest] = {
    "command": ["x"],
    "args": ["x"],
    "ports": [{"containerPort": 1}],
    "readinessProbe": {},
    "livenessProbe": {},
    "startupProbe": {},
    "restartPolicy": "Always",
    "restartPolicyRules": [{"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}],
    "stdin": True,
    "stdinOnce": True,
    "tty": True,
}
UNSET_PRIMARY_FIELDS: Final[Manifest] = {"command": [], "args": [], "ports": [], "stdin": False, "tty": False}
CLOSED_FIELDS: Final[Manifest] = {
    "securityContext": {},
    "lifecycle": {},
    "env": [{"name": "FOO", "value": "bar"}],
    "envFrom": [{"configMapRef": {"name": "x"}}],
    "volumeMounts": [{"name": "mine", "mountPath": "/mine"}],
    "workingDir": "/x",
    "terminationMessagePath": "/x",
    "terminationMessagePolicy": "File",
    "volumeDevices": [{"name": "x", "devicePath": "/dev/x"}],
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
}
"""Of the gateway's and the metadata service's container; an engine's is open for them."""


def pod(**spec: Any) -> Manifest:
    return {"spec": spec}


def container(name: str, **fields: Any) -> Manifest:
    return {"name": name, "image": "example.com/x:1", **fields}


def mounting(name: str, volume: str) -> Manifest:
    return container(name, volumeMounts=[{"name": volume, "mountPath": f"/{volume}"}])


def secret_volume(name: str, secret: str) -> Manifest:
    return {"name": name, "secret": {"secretName": secret}}


def projected_volume(name: str, secret: str) -> Manifest:
    return {"name": name, "projected": {"sources": [{"secret": {"name": secret}}]}}


def reading(name: str, secret: str) -> Manifest:
    """A container with a Secret in its environment."""
    source = {"secretKeyRef": {"name": secret, "key": "password"}}
    return container(name, env=[{"name": "STOLEN", "valueFrom": source}])


def reading_all(name: str, secret: str) -> Manifest:
    return container(name, envFrom=[{"secretRef": {"name": secret}}])


LARGE: Final = pod(containers=[container("side", envFrom=[{"configMapRef": {"name": "x"}}] * 10_000)])
"""More entries than anybody looks through; nothing else is said about it."""


def paths(base: str, fields: Manifest) -> list[str]:
    return [f"{base}.{field}" for field in fields]
