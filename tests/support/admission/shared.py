"""Presets and classes of the cluster: the rules of classes, and what only one of the two may say."""

from dataclasses import dataclass, replace
from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission.case import Case, Condition, Kind, forbidden
from tests.support.admission.classes import TEMPLATE_ROWS
from tests.support.admission.templates import container, pod, projected_volume, reading, reading_all, secret_volume

PRESET: Final[Kind] = "FireboltEnginePreset"
SHARED: Final[Kind] = "ClusterFireboltEngineClass"
UNREADY: Final = Condition(type="Ready", reason="FireboltEngineClassUnready")
"""Of an engine that names it: a class of the cluster has no status of its own."""
POD: Final = "spec.template.spec"
IDENTIFIER: Final = (
    "ClusterFireboltEngineClass is SKU-only; namespace-resolved identifiers belong on FireboltEnginePreset: "
)
NAMESPACED: Final = (
    "ClusterFireboltEngineClass is SKU-only; a cluster-scoped catalog cannot reference a namespaced object that may"
    " not exist in a consumer's namespace — move it to the namespaced FireboltEngineClass or FireboltEnginePreset: "
)


@dataclass(frozen=True, slots=True)
class Lacking:
    """What a namespace may lack, and the words in which a class of the cluster is told so."""

    id: str
    template: Manifest
    path: str
    detail: str


def volume(**source: Any) -> Manifest:
    return pod(volumes=[{"name": "v", **source}])


def annotated(name: str) -> Lacking:
    path = f"spec.template.metadata.annotations[{name}]"
    return Lacking(name, {"metadata": {"annotations": {name: "r"}}}, path, f"{IDENTIFIER}annotation {name}")


def in_environment(source: Manifest) -> Manifest:
    return pod(containers=[container("engine", env=[{"name": "A", "valueFrom": source}])])


def claimed(**fields: Any) -> Manifest:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **fields}
    return volume(ephemeral={"volumeClaimTemplate": {"spec": claim}})


VOLUME, ENGINE, FIRST = f"{POD}.volumes[0]", f"{POD}.containers[0]", f"{POD}.initContainers[0]"
CLONED: Final = {"kind": "PersistentVolumeClaim", "name": "theirs"}
LACKING: Final = (
    Lacking("an account", pod(serviceAccountName="a"), f"{POD}.serviceAccountName", f"{IDENTIFIER}serviceAccountName"),
    Lacking(
        "pull secrets",
        pod(imagePullSecrets=[{"name": "a"}]),
        f"{POD}.imagePullSecrets",
        f"{IDENTIFIER}imagePullSecrets",
    ),
    annotated("iam.amazonaws.com/role"),
    annotated("eks.amazonaws.com/role-arn"),
    Lacking("a Secret volume", pod(volumes=[secret_volume("v", "s")]), VOLUME, f"{IDENTIFIER}Secret volume"),
    Lacking("a projected Secret", pod(volumes=[projected_volume("v", "s")]), VOLUME, f"{IDENTIFIER}Secret volume"),
    Lacking(
        "a Secret of a driver",
        volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "s"}}),
        VOLUME,
        f"{IDENTIFIER}Secret volume",
    ),
    Lacking("a Secret variable", pod(containers=[reading("engine", "s")]), ENGINE, f"{IDENTIFIER}Secret environment"),
    Lacking(
        "all of a Secret",
        pod(initContainers=[reading_all("first", "s")]),
        FIRST,
        f"{IDENTIFIER}Secret environment",
    ),
    Lacking("a ConfigMap volume", volume(configMap={"name": "c"}), VOLUME, f"{NAMESPACED}ConfigMap"),
    Lacking(
        "a projected ConfigMap",
        volume(projected={"sources": [{"configMap": {"name": "c"}}]}),
        VOLUME,
        f"{NAMESPACED}ConfigMap",
    ),
    Lacking(
        "a ConfigMap variable",
        in_environment({"configMapKeyRef": {"name": "c", "key": "k"}}),
        ENGINE,
        f"{NAMESPACED}ConfigMap",
    ),
    Lacking(
        "all of a ConfigMap",
        pod(initContainers=[container("first", envFrom=[{"configMapRef": {"name": "c"}}])]),
        FIRST,
        f"{NAMESPACED}ConfigMap",
    ),
    Lacking(
        "a claim",
        volume(persistentVolumeClaim={"claimName": "c"}),
        VOLUME,
        f"{NAMESPACED}PersistentVolumeClaim",
    ),
    *(
        Lacking(
            f"a claim with a {field}",
            claimed(**{field: CLONED}),
            f"{VOLUME}.ephemeral.volumeClaimTemplate.spec.{field}",
            f"{NAMESPACED}{field}",
        )
        for field in ("dataSource", "dataSourceRef")
    ),
    Lacking(
        "claims of devices",
        pod(resourceClaims=[{"name": "gpu", "resourceClaimName": "g"}]),
        f"{POD}.resourceClaims",
        f"{NAMESPACED}ResourceClaim",
    ),
    Lacking(
        "claims of devices in a container",
        pod(containers=[container("engine", resources={"claims": [{"name": "gpu"}]})]),
        f"{ENGINE}.resources.claims",
        f"{NAMESPACED}ResourceClaim",
    ),
)
SIZES: Final[Manifest] = {
    "metadata": {"labels": {"size": "xl"}, "annotations": {"note": "x"}},
    "spec": {
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
        "affinity": {"nodeAffinity": {}},
        "containers": [container("engine", resources={"limits": {"cpu": "8"}})],
        "initContainers": [container("warm", env=[{"name": "A", "value": "b"}])],
        "volumes": [
            {"name": "a", "emptyDir": {}},
            {"name": "b", "downwardAPI": {"items": []}},
            {**claimed(storageClassName="fast")["spec"]["volumes"][0], "name": "c"},
        ],
    },
}
"""All that a catalogue of nodes is for."""


def _is_for_everybody(case: Case) -> bool:
    """Of the rules of classes: those that a class of the cluster has no other answer to."""
    return set(case.spec) <= {"template"} and case.id not in {
        "a class as people write them",
        "only an account",
        "an edit",
        "every field of the template's metadata, by an edit",
        "what an engine's container leaves open",
        "a huge template",
    }


PRESET_ROWS: Final = (
    *(replace(case, kind=PRESET) for case in TEMPLATE_ROWS),
    *(
        Case(id=f"{row.id}, of one's own namespace", kind=PRESET, spec={"template": row.template})
        for row in LACKING
        if row.id not in {"a Secret of a driver", "claims of devices in a container"}  # not by themselves
    ),
    Case(id="storage and a configuration", kind=PRESET, spec={"template": {}, "storage": {"emptyDir": {}}}),
)
CLUSTER_ROWS: Final = (
    *(
        replace(case, kind=SHARED, without=UNREADY if case.without else None)
        for case in TEMPLATE_ROWS
        if _is_for_everybody(case)
    ),
    *(
        Case(
            id=row.id,
            kind=SHARED,
            spec={"template": row.template},
            refused=forbidden(row.path),
            says=(f"{row.path}: Forbidden: {row.detail}",),
            without=UNREADY,
        )
        for row in LACKING
    ),
    Case(id="all that describes nodes", kind=SHARED, spec={"template": SIZES}),
    Case(
        id="an account, by an edit",
        kind=SHARED,
        spec={"template": pod(serviceAccountName="a")},
        before={"template": SIZES},
        refused=forbidden(f"{POD}.serviceAccountName"),
        without=UNREADY,
    ),
)
ROWS: Final = (*PRESET_ROWS, *CLUSTER_ROWS)
