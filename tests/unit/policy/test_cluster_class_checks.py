"""What a class of the whole cluster may not say, row by row."""

from typing import Any

import pytest

from firebolt_operator.api.cluster_engine_class import ClusterEngineClassSpec
from firebolt_operator.policy.cluster_class_checks import IDENTIFIER, NAMESPACED, check_cluster_class
from firebolt_operator.refs import Manifest

POD = "spec.template.spec"


def pod(**fields: Any) -> Manifest:
    return {"spec": fields}


def container(**fields: Any) -> Manifest:
    return pod(containers=[{"name": "engine", **fields}])


def volume(**source: Any) -> Manifest:
    return pod(volumes=[{"name": "v", **source}])


def errors(template: Manifest) -> list[str]:
    return [str(error) for error in check_cluster_class(ClusterEngineClassSpec(template=template))]


@pytest.mark.parametrize(
    ("template", "path", "detail"),
    [
        pytest.param(
            pod(serviceAccountName="a"), f"{POD}.serviceAccountName", f"{IDENTIFIER}serviceAccountName", id="account"
        ),
        pytest.param(
            pod(imagePullSecrets=[{"name": "a"}]), f"{POD}.imagePullSecrets", f"{IDENTIFIER}imagePullSecrets", id="pull"
        ),
        pytest.param(
            {"metadata": {"annotations": {"iam.amazonaws.com/role": "r"}}},
            "spec.template.metadata.annotations[iam.amazonaws.com/role]",
            f"{IDENTIFIER}annotation iam.amazonaws.com/role",
            id="role",
        ),
        pytest.param(
            {"metadata": {"annotations": {"eks.amazonaws.com/role-arn": "r"}}},
            "spec.template.metadata.annotations[eks.amazonaws.com/role-arn]",
            f"{IDENTIFIER}annotation eks.amazonaws.com/role-arn",
            id="role-arn",
        ),
        pytest.param(
            volume(secret={"secretName": "s"}), f"{POD}.volumes[0]", f"{IDENTIFIER}Secret volume", id="secret"
        ),
        pytest.param(
            volume(projected={"sources": [{"secret": {"name": "s"}}]}),
            f"{POD}.volumes[0]",
            f"{IDENTIFIER}Secret volume",
            id="projected-secret",
        ),
        pytest.param(
            volume(csi={"driver": "d", "nodePublishSecretRef": {"name": "s"}}),
            f"{POD}.volumes[0]",
            f"{IDENTIFIER}Secret volume",
            id="a-secret-of-a-driver",
        ),
        pytest.param(
            container(env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]),
            f"{POD}.containers[0]",
            f"{IDENTIFIER}Secret environment",
            id="env-of-a-secret",
        ),
        pytest.param(
            container(envFrom=[{"secretRef": {"name": "s"}}]),
            f"{POD}.containers[0]",
            f"{IDENTIFIER}Secret environment",
            id="env-from-a-secret",
        ),
        pytest.param(volume(configMap={"name": "c"}), f"{POD}.volumes[0]", f"{NAMESPACED}ConfigMap", id="config-map"),
        pytest.param(
            volume(projected={"sources": [{"configMap": {"name": "c"}}]}),
            f"{POD}.volumes[0]",
            f"{NAMESPACED}ConfigMap",
            id="projected-config-map",
        ),
        pytest.param(
            container(env=[{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}]),
            f"{POD}.containers[0]",
            f"{NAMESPACED}ConfigMap",
            id="env-of-a-config-map",
        ),
        pytest.param(
            pod(initContainers=[{"name": "i", "envFrom": [{"configMapRef": {"name": "c"}}]}]),
            f"{POD}.initContainers[0]",
            f"{NAMESPACED}ConfigMap",
            id="env-from-a-config-map-of-an-init-container",
        ),
        pytest.param(
            volume(persistentVolumeClaim={"claimName": "c"}),
            f"{POD}.volumes[0]",
            f"{NAMESPACED}PersistentVolumeClaim",
            id="claim",
        ),
        pytest.param(
            volume(ephemeral={"volumeClaimTemplate": {"spec": {"dataSource": {"kind": "PersistentVolumeClaim"}}}}),
            f"{POD}.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSource",
            f"{NAMESPACED}dataSource",
            id="data-source",
        ),
        pytest.param(
            volume(ephemeral={"volumeClaimTemplate": {"spec": {"dataSourceRef": {"kind": "X"}}}}),
            f"{POD}.volumes[0].ephemeral.volumeClaimTemplate.spec.dataSourceRef",
            f"{NAMESPACED}dataSourceRef",
            id="data-source-ref",
        ),
        pytest.param(
            pod(resourceClaims=[{"name": "gpu"}]), f"{POD}.resourceClaims", f"{NAMESPACED}ResourceClaim", id="claims"
        ),
        pytest.param(
            container(resources={"claims": [{"name": "gpu"}]}),
            f"{POD}.containers[0].resources.claims",
            f"{NAMESPACED}ResourceClaim",
            id="claims-of-a-container",
        ),
        pytest.param(
            pod(hostname="x"), f"{POD}.hostname", "hostname is owned by the operator", id="owned-fields-as-well"
        ),
    ],
)
def test_what_a_namespace_may_lack_is_refused(template: Manifest, path: str, detail: str) -> None:
    assert errors(template) == [f"{path}: Forbidden: {detail}"]


def test_what_describes_nodes_is_allowed() -> None:
    template = {
        "metadata": {"labels": {"size": "xl"}, "annotations": {"note": "x"}},
        "spec": {
            "nodeSelector": {"disk": "fast"},
            "tolerations": [{"operator": "Exists"}],
            "affinity": {"nodeAffinity": {}},
            "containers": [{"name": "engine", "image": "e:1", "resources": {"limits": {"cpu": "8"}}}],
            "initContainers": [{"name": "warm", "image": "w:1", "env": [{"name": "A", "value": "b"}]}],
            "volumes": [
                {"name": "a", "emptyDir": {}},
                {"name": "b", "downwardAPI": {"items": []}},
                {"name": "c", "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast"}}}},
            ],
        },
    }
    assert errors(template) == []
    assert check_cluster_class(None) == []
