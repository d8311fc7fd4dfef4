"""What starts a generation and what does not, row by row: for rendered objects, and for those that a server stored."""

import copy
from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import IMAGES
from tests.support.live import changed

POD = "spec/template/spec"
ENGINE = f"{POD}/containers/0"
SIDE = f"{POD}/containers/1"

SPEC: Manifest = {
    "replicas": 2,
    "uiSidecar": True,
    "metadataEndpointOverride": "m:1",
    "customEngineConfig": {"logging": {"level": "debug"}},
    "template": {
        "metadata": {"labels": {"team": "sales"}, "annotations": {"note": "x"}},
        "spec": {
            "serviceAccountName": "sales",
            "nodeSelector": {"disk": "ssd"},
            "tolerations": [{"key": "a", "operator": "Exists"}, {"key": "b", "operator": "Exists"}],
            "imagePullSecrets": [{"name": "registry"}],
            "containers": [
                {
                    "name": "engine",
                    "resources": {"requests": {"cpu": "2", "memory": "1Gi"}, "limits": {"memory": "1Gi"}},
                    "env": [{"name": "PASSWORD", "value": "hunter2"}],
                },
                {"name": "shipper", "image": "shipper:2", "args": ["--token=hunter2"]},
            ],
            "initContainers": [{"name": "chown", "image": "busybox:1"}],
            "volumes": [{"name": "mine", "secret": {"secretName": "mine"}}],
        },
    },
}
CLASS: Manifest = {"template": {"spec": {"priorityClassName": "high"}}}
TEMPLATE = "template/spec"

CHANGED: Final[list[tuple[str, Any, str | None]]] = [
    ("spec/replicas", 3, "spec.replicas"),
    ("spec/replicas", None, "spec.replicas"),
    (f"{POD}/containers", [], "spec.template.spec.containers"),
    (ENGINE, None, "spec.template.spec.containers"),
    (f"{ENGINE}/image", "other:1", "spec.template.spec.containers[engine].image"),
    (f"{ENGINE}/imagePullPolicy", "Never", "spec.template.spec.containers[engine].imagePullPolicy"),
    (f"{ENGINE}/resources/requests/cpu", "3", "spec.template.spec.containers[engine].resources.requests.cpu"),
    (f"{ENGINE}/resources/limits/cpu", "3", "spec.template.spec.containers[engine].resources.limits.cpu"),
    (f"{ENGINE}/resources/limits", None, "spec.template.spec.containers[engine].resources.limits.memory"),
    (f"{ENGINE}/resources/claims", [{"name": "g"}], "spec.template.spec.containers[engine].resources.claims"),
    (f"{POD}/nodeSelector/disk", "hdd", "spec.template.spec.nodeSelector.disk"),
    (f"{POD}/nodeSelector/zone", "", "spec.template.spec.nodeSelector.zone"),
    (f"{POD}/tolerations/0", None, "spec.template.spec.tolerations"),
    (f"{POD}/tolerations", [{"key": "b"}, {"key": "a"}], "spec.template.spec.tolerations[0].key"),
    (f"{POD}/affinity/nodeAffinity/x", 1, None),
    (
        f"{POD}/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution",
        [{"topologyKey": "z"}],
        "spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution",
    ),
    (f"{POD}/topologySpreadConstraints", [{"maxSkew": 1}], "spec.template.spec.topologySpreadConstraints"),
    (f"{POD}/priorityClassName", "low", "spec.template.spec.priorityClassName"),
    (f"{POD}/priorityClassName", None, "spec.template.spec.priorityClassName"),
    (f"{POD}/runtimeClassName", "gvisor", "spec.template.spec.runtimeClassName"),
    (f"{POD}/dnsPolicy", "Default", "spec.template.spec.dnsPolicy"),
    (f"{POD}/dnsConfig/nameservers", ["10.0.0.1"], "spec.template.spec.dnsConfig.nameservers"),
    (f"{POD}/schedulerName", "mine", "spec.template.spec.schedulerName"),
    (f"{POD}/preemptionPolicy", "Never", "spec.template.spec.preemptionPolicy"),
    (f"{POD}/readinessGates", [{"conditionType": "x"}], "spec.template.spec.readinessGates"),
    (f"{POD}/resourceClaims", [{"name": "g"}], "spec.template.spec.resourceClaims"),
    (f"{POD}/hostAliases", [{"ip": "1.1.1.1"}], "spec.template.spec.hostAliases"),
    (f"{POD}/os/name", "linux", "spec.template.spec.os.name"),
    (f"{POD}/overhead/cpu", "1", "spec.template.spec.overhead.cpu"),
    (SIDE, None, "spec.template.spec.containers"),
    (f"{SIDE}/image", "shipper:3", "spec.template.spec.containers[shipper].image"),
    (f"{SIDE}/command", ["x"], "spec.template.spec.containers[shipper].command"),
    (f"{POD}/containers/2/image", "ui:2", "spec.template.spec.containers[engine-web].image"),
    ("metadata/labels/firebolt.io~engine", None, "metadata.labels"),
    ("metadata/labels/firebolt.io~generation", "twelve", "metadata.labels"),
    ("spec/template/metadata/labels/extra", "", "spec.template.metadata.labels.extra"),
    ("spec/template/metadata/labels/team", None, "spec.template.metadata.labels.team"),
    (
        "spec/template/metadata/annotations/kubectl.kubernetes.io~restartedAt",
        "now",
        "spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt",
    ),
    ("spec/template/metadata/annotations/note", "", "spec.template.metadata.annotations.note"),
    (f"{POD}/serviceAccountName", "other", "spec.template.spec.serviceAccountName"),
    (f"{POD}/terminationGracePeriodSeconds", 30, "spec.template.spec.terminationGracePeriodSeconds"),
    (f"{POD}/terminationGracePeriodSeconds", None, "spec.template.spec.terminationGracePeriodSeconds"),
    (f"{POD}/securityContext/fsGroup", 0, "spec.template.spec.securityContext.fsGroup"),
    (f"{POD}/securityContext/runAsUser", 0, "spec.template.spec.securityContext.runAsUser"),
    (
        f"{ENGINE}/securityContext/runAsNonRoot",
        False,
        "spec.template.spec.containers[engine].securityContext.runAsNonRoot",
    ),
    (
        f"{ENGINE}/securityContext/privileged",
        False,
        "spec.template.spec.containers[engine].securityContext.privileged",
    ),
    (f"{ENGINE}/env/2", None, "spec.template.spec.containers[engine].env"),
    (
        f"{ENGINE}/env/1/value",
        "false",
        "spec.template.spec.containers[engine].env[FB_AWS_EC2_METADATA_CLIENT_ENABLED].value",
    ),
    (f"{ENGINE}/envFrom", [{"secretRef": {"name": "x"}}], "spec.template.spec.containers[engine].envFrom"),
    (
        f"{ENGINE}/volumeMounts/1/readOnly",
        None,
        "spec.template.spec.containers[engine].volumeMounts[engine-config].readOnly",
    ),
    (
        f"{ENGINE}/lifecycle/preStop/sleep/seconds",
        0,
        "spec.template.spec.containers[engine].lifecycle.preStop.sleep.seconds",
    ),
    (f"{ENGINE}/workingDir", "/", "spec.template.spec.containers[engine].workingDir"),
    (f"{ENGINE}/terminationMessagePath", "/x", "spec.template.spec.containers[engine].terminationMessagePath"),
    (
        f"{ENGINE}/terminationMessagePolicy",
        "FallbackToLogsOnError",
        "spec.template.spec.containers[engine].terminationMessagePolicy",
    ),
    (f"{ENGINE}/volumeDevices", [{"name": "d"}], "spec.template.spec.containers[engine].volumeDevices"),
    (f"{ENGINE}/resizePolicy", [{"resourceName": "cpu"}], "spec.template.spec.containers[engine].resizePolicy"),
    (f"{POD}/initContainers", None, "spec.template.spec.initContainers"),
    (f"{POD}/initContainers/0/image", "busybox:2", "spec.template.spec.initContainers[chown].image"),
    (
        "metadata/annotations/firebolt.io~metadata-override",
        "m:2",
        "metadata.annotations.firebolt.io/metadata-override",
    ),
    (
        "metadata/annotations/firebolt.io~custom-engine-config-hash",
        None,
        "metadata.annotations.firebolt.io/custom-engine-config-hash",
    ),
    ("metadata/annotations/firebolt.io~auth-hash", "x", "metadata.annotations.firebolt.io/auth-hash"),
    ("metadata/annotations/firebolt.io~engine-tls-hash", "x", "metadata.annotations.firebolt.io/engine-tls-hash"),
    (
        "metadata/annotations/firebolt.io~engine-class-hash",
        None,
        "metadata.annotations.firebolt.io/engine-class-hash",
    ),
    (
        f"{POD}/volumes/2",
        {"name": "data", "emptyDir": {"medium": "Memory"}},
        "spec.template.spec.volumes[data].emptyDir.medium",
    ),
    (f"{POD}/volumes/3", None, "spec.template.spec.volumes"),
    (f"{POD}/volumes/3/secret/secretName", "other", "spec.template.spec.volumes[mine].secret.secretName"),
    (f"{POD}/imagePullSecrets", None, "spec.template.spec.imagePullSecrets"),
    (f"{POD}/hostNetwork", True, "spec.template.spec.hostNetwork"),
    (f"{POD}/automountServiceAccountToken", True, "spec.template.spec.automountServiceAccountToken"),
    ("spec/template", None, "spec.template.metadata.labels.team"),
]
"""A change of the live object, and where drift is told; None for a removal, ~ for a slash in the last key."""

HARMLESS: Final[list[tuple[str, Any]]] = [
    ("metadata/labels/foreign", "x"),
    ("metadata/annotations/foreign", "x"),
    ("metadata/finalizers", ["x"]),
    (f"{ENGINE}/command", ["/bin/true"]),
    (f"{ENGINE}/args", ["x"]),
    (f"{ENGINE}/ports", None),
    (f"{ENGINE}/readinessProbe", None),
    (f"{ENGINE}/livenessProbe/periodSeconds", 99),
    (f"{ENGINE}/startupProbe/failureThreshold", 99),
    (f"{POD}/enableServiceLinks", True),
    (f"{POD}/automountServiceAccountToken", None),  # as the first release rendered it
    ("spec/serviceName", "other"),
    ("spec/podManagementPolicy", "OrderedReady"),
    ("spec/persistentVolumeClaimRetentionPolicy", None),
    ("spec/updateStrategy", {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}}),
    ("spec/minReadySeconds", 5),
    (f"{POD}/fieldOfALaterKubernetes", {"a": [1]}),
    (f"{ENGINE}/fieldOfALaterKubernetes", "x"),
    (f"{POD}/volumes/3/secret/fieldOfALaterKubernetes", 1),
    (f"{POD}/dnsPolicy", "ClusterFirstWithHostNet"),
    (f"{POD}/dnsPolicy", ""),
    (f"{POD}/schedulerName", None),
    (f"{POD}/runtimeClassName", ""),
    (f"{POD}/affinity", {}),
    (f"{POD}/affinity", {"nodeAffinity": {}}),
    (f"{POD}/hostAliases", []),
    (f"{POD}/hostNetwork", False),
    (f"{POD}/overhead", {}),
    (f"{ENGINE}/resources/requests/memory", "1024Mi"),
    (f"{ENGINE}/resources/requests/cpu", "2000m"),
    (f"{ENGINE}/lifecycle", {}),
    (f"{ENGINE}/env/0/valueFrom/fieldRef/apiVersion", None),
    (f"{ENGINE}/volumeMounts/0/readOnly", False),
    (f"{SIDE}/securityContext", {"procMount": "Default"}),
    (f"{SIDE}/resources", None),
    (f"{POD}/volumes/2/emptyDir", None),
]
"""Changes of the live object that do not count."""

EDITS: Final[list[tuple[str, Any]]] = [
    ("replicas", 0),
    ("uiSidecar", False),
    ("metadataEndpointOverride", "m:2"),
    ("customEngineConfig/logging/level", "info"),
    ("customEngineConfig", None),
    ("template", None),
    ("template/metadata/labels/team", "ops"),
    ("template/metadata/annotations/more", ""),
    ("storage", {"persistentVolumeClaim": {}}),
    ("storage", {"hostPath": {"path": "/ssd"}}),
    ("storage", {"emptyDir": {"sizeLimit": "0"}}),
    (f"{TEMPLATE}/volumes/0/secret/secretName", "other"),
    (f"{TEMPLATE}/volumes/0/secret/defaultMode", 0o600),
    (f"{TEMPLATE}/imagePullSecrets/0/name", "other"),
    (f"{TEMPLATE}/nodeName", "n1"),
    (f"{TEMPLATE}/setHostnameAsFQDN", True),
    (f"{TEMPLATE}/schedulingGates", [{"name": "g"}]),
    (f"{TEMPLATE}/resources", {"limits": {"cpu": "4"}}),
    (f"{TEMPLATE}/containers/0/resources/requests/memory", "2Gi"),
    (f"{TEMPLATE}/containers/0/env/0/value", "other"),
    (f"{TEMPLATE}/containers/0/securityContext", {}),
    (f"{TEMPLATE}/containers/1/args/0", "--token=other"),
    (f"{TEMPLATE}/containers/1/livenessProbe", {"httpGet": {"port": 1}}),
    (f"{TEMPLATE}/securityContext", {"supplementalGroups": [1]}),
]
"""Edits of the engine that change its pods."""

HARMLESS_EDITS: Final[list[tuple[str, Any]]] = [
    ("rollout", "recreate"),
    ("drainCheckEnabled", False),
    ("drainCheckInterval", "1m"),
    ("drainTimeout", "1h"),
    ("autoStop", {"enabled": True, "activeReplicas": 2}),
    ("engineClassRef", "renamed"),
    ("storage", {"emptyDir": {}}),
    ("customEngineConfig/engine", {"id": "ignored"}),
    (f"{TEMPLATE}/containers/0/resources/requests/memory", 1024**3),
    (f"{TEMPLATE}/containers/0/resources/requests/cpu", "2000m"),
    (f"{TEMPLATE}/containers/0/image", IMAGES.engine),
    (f"{TEMPLATE}/containers/1/imagePullPolicy", "IfNotPresent"),
    (f"{TEMPLATE}/containers/1/terminationMessagePolicy", "File"),
    (f"{TEMPLATE}/volumes/0/secret/defaultMode", 0o644),
    (f"{TEMPLATE}/dnsPolicy", "ClusterFirst"),
    (f"{TEMPLATE}/schedulerName", "default-scheduler"),
    (f"{TEMPLATE}/affinity", {}),
    (f"{TEMPLATE}/securityContext", {"fsGroup": 3473}),
    (f"{TEMPLATE}/priorityClassName", "high"),
]
"""Edits of the engine that leave its pods as they are."""


def touched(live: Manifest, path: str, value: Any) -> Manifest:
    """A copy with one field set, or removed for None."""
    if "~" not in path:
        return changed(live, path, value)
    *steps, last = path.split("/")
    copied = copy.deepcopy(live)
    node: Any = copied
    for step in steps:
        node = node[step]
    key = last.replace("~", "/")
    if value is None:
        del node[key]
    else:
        node[key] = value
    return copied
