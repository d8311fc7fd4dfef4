"""Volumes of an engine pod, and which of a user's are left out."""

import dataclasses

import pytest

from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import INSTANCE, engine_inputs, with_template

AUTH = dataclasses.replace(
    INSTANCE,
    protected_secrets=frozenset({"admin"}),
    secret_mounts=(
        SecretMount(volume="auth-admin", secret="admin", path="/secrets/auth/admin"),
        SecretMount(volume="auth-signing-k1", secret="k1", path="/secrets/auth/signing/k1"),
    ),
)


def statefulset_spec(spec: Manifest | None, of_class: Manifest | None = None) -> Manifest:
    rendered: Manifest = engine_statefulset(engine_inputs(spec, of_class), 4)["spec"]
    return rendered


@pytest.mark.parametrize(
    ("storage", "volume"),
    [
        ({}, {"name": "data", "emptyDir": {}}),
        (
            {"emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
            {"name": "data", "emptyDir": {"medium": "Memory", "sizeLimit": "2Gi"}},
        ),
        ({"emptyDir": {"sizeLimit": 0}}, {"name": "data", "emptyDir": {"sizeLimit": 0}}),
        ({"hostPath": {"path": "/ssd"}}, {"name": "data", "hostPath": {"path": "/ssd"}}),
        (
            {"hostPath": {"path": "/ssd", "type": "Directory"}},
            {"name": "data", "hostPath": {"path": "/ssd", "type": "Directory"}},
        ),
    ],
)
def test_given_a_backend_in_the_pod_then_it_is_its_data_volume(storage: Manifest, volume: Manifest) -> None:
    spec = statefulset_spec({"storage": storage})
    assert spec["template"]["spec"]["volumes"][2] == volume
    assert "volumeClaimTemplates" not in spec


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ({}, {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}),
        (
            {"size": "0", "accessModes": []},
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
        ),
        (
            {"size": "5Gi", "accessModes": ["ReadWriteOncePod"], "storageClassName": ""},
            {
                "accessModes": ["ReadWriteOncePod"],
                "resources": {"requests": {"storage": "5Gi"}},
                "storageClassName": "",
            },
        ),
        (
            {"size": "5 bananas"},
            {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5 bananas"}}},
        ),
    ],
)
def test_given_claims_then_a_template_replaces_the_data_volume(claim: Manifest, expected: Manifest) -> None:
    spec = statefulset_spec({"storage": {"persistentVolumeClaim": claim}})
    labels = {"firebolt.io/engine": "sales", "firebolt.io/generation": "4"}
    assert spec["volumeClaimTemplates"] == [{"metadata": {"name": "data", "labels": labels}, "spec": expected}]
    assert "data" not in [volume["name"] for volume in spec["template"]["spec"]["volumes"]]


def test_given_secret_mounts_then_they_stand_between_the_operators_and_the_users() -> None:
    spec = with_template(
        {"volumes": [{"name": "mine"}]}, engine={"volumeMounts": [{"name": "mine", "mountPath": "/m"}]}
    )
    pod = engine_statefulset(engine_inputs(spec | {"uiSidecar": True}, instance=AUTH), 4)["spec"]["template"]["spec"]
    assert [volume["name"] for volume in pod["volumes"]] == [
        "engine-config",
        "runtime",
        "data",
        "auth-admin",
        "auth-signing-k1",
        "mine",
        "nginx-writable-dir",
    ]
    assert pod["volumes"][3] == {"name": "auth-admin", "secret": {"secretName": "admin"}}
    assert pod["containers"][0]["volumeMounts"] == [
        {"name": "data", "mountPath": "/var/lib/firebolt"},
        {
            "name": "engine-config",
            "mountPath": "/var/lib/firebolt/config.yaml",
            "subPath": "config.yaml",
            "readOnly": True,
        },
        {"name": "runtime", "mountPath": "/run/firebolt"},
        {"name": "auth-admin", "mountPath": "/secrets/auth/admin", "readOnly": True},
        {"name": "auth-signing-k1", "mountPath": "/secrets/auth/signing/k1", "readOnly": True},
        {"name": "mine", "mountPath": "/m"},
    ]


@pytest.mark.parametrize(
    "volume",
    [
        {"name": "engine-config"},
        {"name": "data", "emptyDir": {}},
        {"name": "runtime"},
        {"name": "nginx-writable-dir"},
        {"name": "auth-admin"},
        {"name": "x", "secret": {"secretName": "admin"}},
        {"name": "x", "projected": {"sources": [{"secret": {"name": "admin"}}]}},
        {"name": "x", "secret": {"secretName": "other-g3-engine-tls"}},
        {"name": "x", "csi": {"driver": "d", "nodePublishSecretRef": {"name": "inst-auth-signing-2"}}},
        {"name": "x", "secret": {"secretName": "other-metadata-postgres-creds"}},
        {"name": "x", "persistentVolumeClaim": {"claimName": "data-other-metadata-pg-0"}},
    ],
)
def test_given_a_volume_that_is_the_operators_or_reaches_its_secrets_then_it_is_left_out(volume: Manifest) -> None:
    spec = with_template({"volumes": [volume, {"name": "mine", "secret": {"secretName": "mine"}}]})
    for inputs in (engine_inputs(spec, instance=AUTH), engine_inputs(None, spec, instance=AUTH)):
        volumes = engine_statefulset(inputs, 4)["spec"]["template"]["spec"]["volumes"]
        assert volumes[5:] == [{"name": "mine", "secret": {"secretName": "mine"}}]


def test_given_the_same_volume_in_both_layers_then_both_are_left_for_the_api_server() -> None:
    spec = with_template({"volumes": [{"name": "mine"}]})
    assert [each["name"] for each in statefulset_spec(spec, spec)["template"]["spec"]["volumes"]][3:] == [
        "mine",
        "mine",
    ]


def test_given_user_mounts_of_the_operators_volumes_then_they_are_left_out() -> None:
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in ("data", "engine-config", "mine")]
    pod = statefulset_spec(with_template(engine={"volumeMounts": mounts}))["template"]["spec"]
    assert pod["containers"][0]["volumeMounts"][3:] == [{"name": "mine", "mountPath": "/mine"}]
