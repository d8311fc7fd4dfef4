"""What does the API server make of a field that was left out, and when does an empty value mean "left out"?

Each table is keyed by where a field stands: the name of the object it is in, or of the list that object is in. There it
means the same wherever it appears in a pod template.
"""

from collections.abc import Mapping
from typing import Any, Final

from firebolt_operator.manifests.images import kubernetes_pull_policy

_PROBE: Final[Mapping[str, tuple[Any, ...]]] = {
    "timeoutSeconds": (1,),
    "periodSeconds": (10,),
    "successThreshold": (1,),
    "failureThreshold": (3,),
}
_CONTAINER: Final[Mapping[str, tuple[Any, ...]]] = {
    "terminationMessagePath": ("/dev/termination-log",),
    "terminationMessagePolicy": ("File",),
}
_FILE_MODE: Final[Mapping[str, tuple[Any, ...]]] = {"defaultMode": (0o644,)}

DEFAULTS: Final[Mapping[str, Mapping[str, tuple[Any, ...]]]] = {
    "spec": {
        "dnsPolicy": ("ClusterFirst", "ClusterFirstWithHostNet"),
        "restartPolicy": ("Always",),
        "schedulerName": ("default-scheduler",),
        "volumeMode": ("Filesystem",),  # of a claim inside an ephemeral volume
    },
    "containers": _CONTAINER,
    "initContainers": _CONTAINER,
    "livenessProbe": _PROBE,
    "readinessProbe": _PROBE,
    "startupProbe": _PROBE,
    "httpGet": {"path": ("/",), "scheme": ("HTTP",)},
    "ports": {"protocol": ("TCP",)},
    "fieldRef": {"apiVersion": ("v1",)},
    "fileKeyRef": {"optional": (False,)},
    "resourceFieldRef": {"divisor": ("0",)},
    "securityContext": {"procMount": ("Default",)},
    "secret": _FILE_MODE,
    "configMap": _FILE_MODE,
    "downwardAPI": _FILE_MODE,
    "projected": _FILE_MODE,
    "serviceAccountToken": {"expirationSeconds": (3600,)},
    "iscsi": {"iscsiInterface": ("default",)},
    "rbd": {"pool": ("rbd",), "user": ("admin",), "keyring": ("/etc/ceph/keyring",)},
    "azureDisk": {"cachingMode": ("ReadWrite",), "fsType": ("ext4",), "kind": ("Shared",), "readOnly": (False,)},
    "scaleIO": {"storageMode": ("ThinProvisioned",), "fsType": ("xfs",)},
}

ZERO_IS_ABSENT: Final = frozenset(
    {
        "chapAuthDiscovery",
        "chapAuthSession",
        "failureThreshold",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "hostPort",
        "initialDelaySeconds",
        "partition",
        "periodSeconds",
        "readOnly",
        "sslEnabled",
        "stdin",
        "stdinOnce",
        "successThreshold",
        "timeoutSeconds",
        "tty",
    }
)
"""Numbers and switches that the API server leaves out when they are 0 or false; elsewhere 0 and false say something."""

EMPTY_SAYS_SOMETHING: Final = frozenset(
    {
        "labelSelector",  # empty selects everything, absent nothing
        "namespaceSelector",
        "selector",
        "seLinuxOptions",  # empty on a container turns the pod's off
        "storageClassName",  # empty forbids dynamic provisioning
        "volumeAttributesClassName",
    }
)
FREE_KEYS: Final = frozenset(
    {"labels", "annotations", "matchLabels", "nodeSelector", "options", "userAnnotations", "volumeAttributes"}
)
"""Objects whose keys people choose: an empty value is a value there."""
_SOURCES: Final = frozenset({"volumes", "sources"})
_CONTAINER_LISTS: Final = frozenset({"containers", "initContainers"})

RESOURCE_LISTS: Final = frozenset({"limits", "requests", "overhead"})
QUANTITIES: Final = frozenset({"sizeLimit", "divisor"})


def is_absent(within: str, field: str, value: Any) -> bool:
    if value is None:
        return True
    if isinstance(value, (bool, int)):
        return not value and field in ZERO_IS_ABSENT
    return not value and not matters_when_empty(within, field)


def matters_when_empty(within: str, field: str) -> bool:
    """An empty volume source still says which kind of volume it is; only emptyDir is what a volume is by default."""
    is_kind_of_volume = within in _SOURCES and field != "emptyDir"
    return is_kind_of_volume or field in EMPTY_SAYS_SOMETHING or within in FREE_KEYS


def without_absent(within: str, value: Any) -> Any:
    """A copy that says the same in fewer words: what the API server takes for absent is left out."""
    if isinstance(value, list):
        return [without_absent(within, entry) for entry in value]
    if not isinstance(value, dict):
        return value
    kept: dict[str, Any] = {}
    for field, inner in value.items():
        content = without_absent(field, inner) if isinstance(inner, (dict, list)) else inner
        if field == "emptyDir" or not is_absent(within, field, content):
            kept[field] = content
    return kept


def is_default(within: str, field: str, value: Any, beside: Mapping[str, Any]) -> bool:
    """Whether the API server would have put this value in; `beside` holds the fields next to it."""
    if field == "imagePullPolicy" and within in _CONTAINER_LISTS:
        return bool(value == kubernetes_pull_policy(beside.get("image", "")))
    if field == "pullPolicy" and within == "image":
        return bool(value == kubernetes_pull_policy(beside.get("reference", "")))
    return value in DEFAULTS.get(within, {}).get(field, ())
