"""What starts a generation, row by row: a change of the live object, or of what is asked for."""

import copy
import dataclasses
from typing import Any

import pytest

from firebolt_operator.engine.drift import find_drift
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import IMAGES, INSTANCE, engine_inputs, with_template
from tests.unit.engine.live import changed, live_statefulset

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
INPUTS = engine_inputs(SPEC, {"template": {"spec": {"priorityClassName": "high"}}})
LIVE = live_statefulset(INPUTS)


def test_given_a_fresh_statefulset_then_it_matches() -> None:
    assert find_drift(LIVE, INPUTS) is None


@pytest.mark.parametrize(
    ("path", "value", "where"),
    [
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
        (f"{POD}/automountServiceAccountToken", False, "spec.template.spec.automountServiceAccountToken"),
        ("spec/template", None, "spec.template.metadata.labels.team"),
    ],
)
def test_given_a_live_field_that_was_changed_then_it_is_drift(path: str, value: Any, where: str | None) -> None:
    drift = find_drift(changed(LIVE, path, value) if "~" not in path else renamed(path, value), INPUTS)
    assert (drift.partition(": ")[0] if drift else None) == where


def renamed(path: str, value: Any) -> Manifest:
    """Like `changed`, for keys with a slash, written as ~."""
    *steps, last = path.split("/")
    copied = copy.deepcopy(LIVE)
    node: Any = copied
    for step in steps:
        node = node[step]
    key = last.replace("~", "/")
    if value is None:
        del node[key]
    else:
        node[key] = value
    return copied


@pytest.mark.parametrize(
    ("path", "value"),
    [
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
        ("spec/serviceName", "other"),
        ("spec/podManagementPolicy", "OrderedReady"),
        ("spec/persistentVolumeClaimRetentionPolicy", None),
        ("spec/updateStrategy/type", "OnDelete"),
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
    ],
)
def test_given_a_live_field_that_does_not_count_then_it_is_no_drift(path: str, value: Any) -> None:
    assert find_drift(changed(LIVE, path, value), INPUTS) is None


def edited(path: str, value: Any) -> Manifest:
    return changed(SPEC, path, value)


TEMPLATE = "template/spec"


@pytest.mark.parametrize(
    ("path", "value"),
    [
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
    ],
)
def test_given_an_edit_that_changes_the_pods_then_it_is_drift(path: str, value: Any) -> None:
    inputs = dataclasses.replace(INPUTS, spec=engine_inputs(edited(path, value)).spec)
    assert find_drift(LIVE, inputs) is not None


@pytest.mark.parametrize(
    ("path", "value"),
    [
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
    ],
)
def test_given_an_edit_that_leaves_the_pods_as_they_are_then_it_is_no_drift(path: str, value: Any) -> None:
    inputs = dataclasses.replace(INPUTS, spec=engine_inputs(edited(path, value)).spec)
    assert find_drift(LIVE, inputs) is None


CLASS = {"template": {"spec": {"priorityClassName": "high"}}}


@pytest.mark.parametrize(
    ("of_class", "is_drift"),
    [
        pytest.param(CLASS, False, id="another-class-with-the-same-template"),
        pytest.param(CLASS | {"rollout": "recreate", "drainTimeout": "1h"}, False, id="settings-read-live"),
        pytest.param(CLASS | {"uiSidecar": False}, False, id="a-setting-the-engine-overrides"),
        pytest.param(None, True, id="no-class-any-more"),
        pytest.param(
            with_template({"serviceAccountName": "x", "priorityClassName": "high"}), True, id="overridden-field"
        ),
        pytest.param(CLASS | {"storage": {"hostPath": {"path": "/d"}}}, True, id="storage"),
        pytest.param(CLASS | {"customEngineConfig": {"a": 1}}, True, id="configuration"),
    ],
)
def test_given_a_change_of_the_class_then_its_template_storage_and_configuration_count(
    of_class: Manifest | None, is_drift: bool
) -> None:
    assert (find_drift(LIVE, engine_inputs(SPEC, of_class)) is not None) == is_drift


def test_given_other_facts_of_the_instance_then_only_its_hashes_count() -> None:
    moved = dataclasses.replace(INSTANCE, id="other", metadata_endpoint="other:1")
    assert find_drift(LIVE, dataclasses.replace(INPUTS, instance=moved)) is None
    hashed = dataclasses.replace(INSTANCE, hash_annotations={"firebolt.io/auth-hash": "new"})
    assert find_drift(LIVE, dataclasses.replace(INPUTS, instance=hashed)) is not None


def test_given_a_new_default_image_then_engines_without_their_own_roll() -> None:
    images = dataclasses.replace(IMAGES, engine="ghcr.io/firebolt-db/engine:release-9")
    assert find_drift(LIVE, dataclasses.replace(INPUTS, images=images)) == (
        "spec.template.spec.containers[engine].image:"
        " live ghcr.io/firebolt-db/engine:release-5.0.1, wanted ghcr.io/firebolt-db/engine:release-9"
    )


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (f"{ENGINE}/env/2/value", "hunter3"),
        (f"{ENGINE}/env/2", None),
        (f"{ENGINE}/env", None),
        (f"{SIDE}/args", ["--token=hunter3"]),
        (f"{SIDE}/args", None),
    ],
)
def test_given_drift_where_people_keep_secrets_then_nothing_is_quoted(path: str, value: Any) -> None:
    drift = find_drift(changed(LIVE, path, value), INPUTS)
    assert drift is not None
    assert "hunter" not in drift


CLAIM: Manifest = {"persistentVolumeClaim": {"size": "2Gi", "storageClassName": "fast"}}


@pytest.mark.parametrize(
    ("storage", "is_drift"),
    [
        (CLAIM, False),
        ({"persistentVolumeClaim": {"size": "2048Mi", "storageClassName": "fast"}}, False),
        ({"persistentVolumeClaim": {"size": "3Gi", "storageClassName": "fast"}}, True),
        ({"persistentVolumeClaim": {"size": "2Gi", "storageClassName": ""}}, True),
        ({"persistentVolumeClaim": {"size": "2Gi"}}, True),
        (
            {"persistentVolumeClaim": {"size": "2Gi", "storageClassName": "fast", "accessModes": ["ReadWriteMany"]}},
            True,
        ),
        ({}, True),
        ({"hostPath": {"path": "/d"}}, True),
    ],
)
def test_given_claims_then_size_class_and_modes_count(storage: Manifest, is_drift: bool) -> None:
    live = live_statefulset(engine_inputs({"storage": CLAIM}))
    # We applied the claim: that must not excuse its removal from what is wanted.
    live["metadata"]["managedFields"] = [
        {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": {"f:spec": {"f:volumeClaimTemplates": {}}}}
    ]
    assert (find_drift(live, engine_inputs({"storage": storage})) is not None) == is_drift
