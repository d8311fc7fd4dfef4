"""Which Secrets are reached, and which are the operator's own."""

import pytest

from firebolt_operator.policy.protected_secrets import (
    container_secrets,
    instance_secret_names,
    is_database_claim,
    is_generation_tls_secret,
    is_protected,
    is_signing_key_secret,
    protected_secret_names,
    provisioned_secret_names,
    reaches_protected,
    volume_claims,
    volume_secrets,
)
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import AUTH, a_container, a_secret_volume, an_instance, with_signing_keys

EXTERNAL: Manifest = {"postgres": {"host": "pg", "database": "db", "credentialsSecretRef": {"name": "pg-creds"}}}
CREATED: Manifest = {"createdAt": "2026-01-01T00:00:00Z"}
STATUS: Manifest = {
    **with_signing_keys("k1", "k2"),
    "engineTLS": {"secretName": "inst-engine-tls", **CREATED},
    "gatewayTLS": {"secretName": "inst-gateway-tls", **CREATED},
}
CERT_MANAGER: Manifest = {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param({"secret": {"secretName": "s"}}, ["s"], id="a-secret-volume"),
        pytest.param(
            {
                "projected": {
                    "sources": [{"configMap": {"name": "c"}}, {"secret": {"name": "s"}}, {"secret": {"name": "t"}}]
                }
            },
            ["s", "t"],
            id="projected-sources",
        ),
        pytest.param({"csi": {"nodePublishSecretRef": {"name": "s"}}}, ["s"], id="a-csi-volume"),
        pytest.param({"azureFile": {"secretName": "s"}}, ["s"], id="azure-file"),
        *(
            pytest.param({kind: {"secretRef": {"name": "s"}}}, ["s"], id=kind)
            for kind in ("cephfs", "cinder", "flexVolume", "iscsi", "rbd", "scaleIO", "storageos")
        ),
        pytest.param({"configMap": {"name": "s"}}, [], id="a-config-map-never-counts"),
        pytest.param({"emptyDir": {}}, [], id="an-empty-dir-never-counts"),
        pytest.param({"persistentVolumeClaim": {"claimName": "s"}}, [], id="a-claim-never-counts"),
        pytest.param({"secret": {"secretName": ""}}, [], id="an-empty-name-never-counts"),
        pytest.param({"secret": None, "projected": {"sources": None}}, [], id="nulls-never-count"),
        pytest.param(
            {"cephfs": {"secretRef": {"name": "b"}}, "secret": {"secretName": "a"}}, ["a", "b"], id="in-a-fixed-order"
        ),
    ],
)
def test_secrets_of_a_volume(source: Manifest, expected: list[str]) -> None:
    assert volume_secrets({"name": "v", **source}) == expected


def cloned(field: str, kind: str) -> Manifest:
    source = {field: {"kind": kind, "name": "c"}}
    return {"ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"], **source}}}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param({"persistentVolumeClaim": {"claimName": "c"}}, ["c"], id="a-claim"),
        pytest.param({"persistentVolumeClaim": {"claimName": "c", "readOnly": True}}, ["c"], id="a-claim-to-read-only"),
        pytest.param(cloned("dataSource", "PersistentVolumeClaim"), ["c"], id="a-clone-of-a-claim"),
        pytest.param(cloned("dataSourceRef", "PersistentVolumeClaim"), ["c"], id="a-clone-by-reference"),
        pytest.param(cloned("dataSource", "VolumeSnapshot"), [], id="a-snapshot-has-a-name-of-its-own"),
        pytest.param({"ephemeral": {"volumeClaimTemplate": {"spec": {}}}}, [], id="an-empty-claim-of-its-own"),
        pytest.param({"secret": {"secretName": "c"}}, [], id="a-secret-is-no-claim"),
        pytest.param({"persistentVolumeClaim": None, "ephemeral": None}, [], id="nulls-never-count"),
    ],
)
def test_claims_of_a_volume(source: Manifest, expected: list[str]) -> None:
    assert volume_claims({"name": "v", **source}) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("data-inst-metadata-pg-0", True),
        ("data-other-metadata-pg-0", True),
        ("data-other-metadata-pg-12", True),
        ("data-eng-g0-0", False),
        ("data-metadata-pg-0", False),
        ("data-other-metadata-pg", False),
        ("data-other-metadata-pg-0-copy", False),
        ("my-data-other-metadata-pg-0", False),
    ],
)
def test_shape_of_a_databases_claim(name: str, expected: bool) -> None:
    assert is_database_claim(name) is expected
    assert reaches_protected({"name": "v", "persistentVolumeClaim": {"claimName": name}}, frozenset()) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("inst-metadata-postgres-creds", True),
        ("other-metadata-postgres-creds", True),
        ("-metadata-postgres-creds", False),
        ("metadata-postgres-creds", False),
        ("other-metadata-postgres-creds-copy", False),
    ],
)
def test_shape_of_a_databases_credentials(name: str, expected: bool) -> None:
    assert is_protected(name, frozenset()) is expected


def test_secrets_of_a_container_env_first_each_once() -> None:
    container = a_container(
        "x",
        envFrom=[{"secretRef": {"name": "c"}}, {"configMapRef": {"name": "m"}}, {"secretRef": {"name": "a"}}],
        env=[
            {"name": "A", "valueFrom": {"secretKeyRef": {"name": "b", "key": "k"}}},
            {"name": "B", "value": "plain"},
            {"name": "C", "valueFrom": {"configMapKeyRef": {"name": "m", "key": "k"}}},
            {"name": "D", "valueFrom": {"secretKeyRef": {"name": "a", "key": "k"}}},
        ],
    )
    assert container_secrets(container) == ["b", "a", "c"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("eng-g1-engine-tls", True),
        ("other-engine-g42-engine-tls", True),
        ("my-gw-engine-tls", True),
        ("inst-engine-tls", False),
        ("my-own-engine-tls", False),
        ("eng-g1-config", False),
        ("", False),
    ],
)
def test_shape_of_a_generations_certificate(name: str, expected: bool) -> None:
    assert is_generation_tls_secret(name) is expected
    assert is_protected(name, frozenset()) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("inst-gateway-tls", True),
        ("engine-a-g1-gateway-tls", True),
        ("-gateway-tls", False),
        ("gateway-tls", False),
        ("inst-gateway-tls-copy", False),
        ("my-gateway-certificate", False),
    ],
)
def test_shape_of_a_gateways_certificate(name: str, expected: bool) -> None:
    assert not is_generation_tls_secret(name)
    assert is_protected(name, frozenset()) is expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("inst-auth-signing", True),
        ("inst-auth-signing-signing-3", True),
        ("inst-auth-signing-signing-7", True),
        ("other-auth-signing", True),
        ("app-auth-signing-mine", True),
        ("app-auth-signingkey", False),
        ("app-auth-signingkey-auth-signing", False),
        ("auth-signing", False),
        ("-auth-signing", False),
        ("signing", False),
        ("", False),
    ],
)
def test_shape_of_a_signing_key(name: str, expected: bool) -> None:
    assert is_signing_key_secret(name) is expected
    assert is_protected(name, frozenset()) is expected


def test_a_fresh_instance_guards_what_it_is_about_to_make() -> None:
    instance = an_instance()
    assert instance_secret_names(instance) == []
    assert protected_secret_names(instance) == {"inst-engine-ca-bundle", "inst-metadata-postgres-creds"}


def test_a_full_instance_guards_every_secret_it_names() -> None:
    tls = {"gateway": {**CERT_MANAGER, "clientCASecretRef": {"name": "client-ca"}, "crlSecretRef": {"name": "crl"}}}
    instance = an_instance(auth=AUTH, tls=tls, metadata=EXTERNAL, status=STATUS)
    named = ["admin-password", "k1", "k2", "inst-engine-tls", "inst-gateway-tls", "client-ca", "pg-creds"]
    assert instance_secret_names(instance) == named
    assert protected_secret_names(instance) == {*named, "inst-engine-ca-bundle"}


def test_without_authentication_the_admin_secret_is_the_users_own() -> None:
    assert instance_secret_names(an_instance(auth={**AUTH, "enabled": False})) == []


def test_an_empty_reference_guards_nothing() -> None:
    postgres = {**EXTERNAL["postgres"], "credentialsSecretRef": {}}
    instance = an_instance(metadata={"postgres": postgres}, status=with_signing_keys(""))
    assert protected_secret_names(instance) == {"inst-engine-ca-bundle"}
    assert not is_protected("", protected_secret_names(instance))


@pytest.mark.parametrize(
    ("tls", "expected"),
    [
        pytest.param(None, {"k1", "k2"}, id="signing-keys-always"),
        pytest.param({"engine": CERT_MANAGER}, {"k1", "k2", "inst-engine-tls"}, id="an-issued-engine-certificate"),
        pytest.param({"gateway": CERT_MANAGER}, {"k1", "k2", "inst-gateway-tls"}, id="an-issued-gateway-certificate"),
        pytest.param(
            {"gateway": {"enabled": True, "secretRef": {"name": "mine"}}},
            {"k1", "k2"},
            id="not-a-certificate-brought-along",
        ),
    ],
)
def test_provisioned_secrets_are_those_the_operator_makes(tls: Manifest | None, expected: set[str]) -> None:
    assert provisioned_secret_names(an_instance(auth=AUTH, tls=tls, status=STATUS)) == expected


def test_certificates_are_guarded_before_they_are_issued() -> None:
    fresh = an_instance(tls={"engine": CERT_MANAGER, "gateway": CERT_MANAGER})
    assert provisioned_secret_names(fresh) == {"inst-engine-tls", "inst-gateway-tls"}
    assert protected_secret_names(fresh) > {"inst-engine-tls", "inst-gateway-tls"}
    own = an_instance(tls={"gateway": {"enabled": True, "secretRef": {"name": "inst-gateway-tls"}}})
    assert provisioned_secret_names(own) == frozenset()


def test_a_volume_is_left_out_when_any_of_its_secrets_is_guarded() -> None:
    sources = [{"secret": {"name": "mine"}}, {"secret": {"name": "k1"}}]
    assert reaches_protected({"name": "v", "projected": {"sources": sources}}, {"k1"})
    assert not reaches_protected({"name": "v", "projected": {"sources": sources}}, {"k2"})
    assert reaches_protected(a_secret_volume("v", "other-engine-g7-engine-tls"), frozenset())
