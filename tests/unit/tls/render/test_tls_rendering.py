"""Certificates, the trust bundle and both sides of TLS; whole objects are in golden/."""

import base64
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import LocalRef
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.tls import EngineTLSStatus, GatewayTLSStatus, TLSListener, TLSSpec
from firebolt_operator.gateway.envoy.bootstrap import closed_bootstrap, envoy_yaml
from firebolt_operator.gateway.inputs import GatewayTLS
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.owners import Owner
from firebolt_operator.tls.facts import SecretRevisions, TrustBundle, TrustedAuthority
from firebolt_operator.tls.render.certificates import anchor_certificate, gateway_certificate, generation_certificate
from firebolt_operator.tls.render.engine_tls import engine_tls_hash, tls_config, tls_mount
from firebolt_operator.tls.render.gateway_tls import gateway_tls
from firebolt_operator.tls.render.trust_bundle import read_trust_bundle, trust_bundle
from firebolt_operator.tls.served import is_closed
from tests.support.auth import ISSUER
from tests.support.engines import NOON
from tests.support.gateways import an_instance, gateway_inputs

GOLDEN = Path(__file__).parent / "golden"
ENGINE = Owner(resource=FIREBOLT_ENGINES, namespace="ns", name="sales", uid="engine-uid")
A, B = blob_fingerprint("CA-A"), blob_fingerprint("CA-B")
BUNDLE = TrustBundle(
    {
        B: TrustedAuthority("CA-B", frozenset({"sales-g2-engine-tls", "ops-g0-engine-tls"})),
        A: TrustedAuthority("CA-A", frozenset()),
    },
    7,
)
ENGINE_STATUS = EngineTLSStatus(secret_name="inst-engine-tls", created_at=NOON, reencrypting=True)
MUTUAL_STATUS = GatewayTLSStatus(
    secret_name="inst-gateway-tls", created_at=NOON, mode="MutualTLS", client_ca_fingerprint="x"
)
CRL, CLIENTS = LocalRef(name="revoked"), LocalRef(name="clients")
FULL = TLSSpec(
    gateway=TLSListener(
        enabled=True, cert_manager=ISSUER, client_ca_secret_ref=CLIENTS, crl_secret_ref=LocalRef(name="client-crl")
    ),
    engine=TLSListener(enabled=True, cert_manager=ISSUER, crl_secret_ref=CRL),
)


def golden(name: str) -> list[Any]:
    return list(yaml.load_all((GOLDEN / name).read_text(), yaml.CSafeLoader))


def plain(value: object) -> Any:
    """As a file would have it."""
    return msgspec.json.decode(msgspec.json.encode(value))


def secured(tls: TLSSpec | None, **status: Any) -> FireboltInstance:
    instance = an_instance()
    return msgspec.structs.replace(
        instance,
        spec=msgspec.structs.replace(instance.spec, tls=tls),
        status=msgspec.structs.replace(instance.status, **status),
    )


def revisions(**known: str) -> SecretRevisions:
    return SecretRevisions(known={name.replace("_", "-"): revision for name, revision in known.items()})


def test_certificates_are_asked_for_as_it_is_written_down() -> None:
    listener = TLSListener(enabled=True, dns_names=["query.example.com"])
    other = msgspec.structs.replace(ISSUER, algorithm="RSA", size=2048, duration="24h")
    assert [
        anchor_certificate(an_instance(), ISSUER),
        generation_certificate(ENGINE, 3, ISSUER),
        gateway_certificate(an_instance(), listener, other),
    ] == golden("certificates.yaml")


def test_the_anchor_stands_for_nobody_and_every_tls_key_is_short_lived() -> None:
    made = [anchor_certificate(an_instance(), ISSUER), generation_certificate(ENGINE, 0, ISSUER)]
    assert not [name for name in made[0]["spec"]["dnsNames"] if "*" in name]
    assert {each["spec"]["privateKey"]["rotationPolicy"] for each in made} == {"Always"}


def test_the_bundle_is_as_it_is_written_down_and_read_as_it_was_written() -> None:
    secret = trust_bundle(an_instance(), BUNDLE)
    assert [secret] == golden("bundle.yaml")
    texts = {key: base64.b64decode(text).decode() for key, text in secret["data"].items()}
    assert texts["ca.crt"] == "CA-A\nCA-B"
    assert read_trust_bundle(secret["metadata"]["annotations"], texts) == BUNDLE


@pytest.mark.parametrize(
    "annotations",
    [
        {},
        {"firebolt.io/engine-trust-generations": "["},
        {"firebolt.io/engine-trust-generations": '{"x":["e-g1"]}', "firebolt.io/engine-trust-revision": "-1"},
    ],
)
def test_a_bundle_that_somebody_else_wrote_is_not_believed(annotations: dict[str, str]) -> None:
    assert read_trust_bundle(annotations, {"ca.crt": "CA-A"}) == TrustBundle()


@pytest.mark.parametrize(
    ("text", "revision"), [("7", 7), ("9" * 5_000, 0), ("9" * 19, 0), ("-1", 0), ("x", 0), ("", 0)]
)
def test_a_revision_that_nobody_counted_to_is_none(text: str, revision: int) -> None:
    annotations = {"firebolt.io/engine-trust-revision": text}
    assert read_trust_bundle(annotations, {}).revision == revision


def test_what_an_engine_gets_is_what_is_written_down() -> None:
    hashed = engine_tls_hash("inst-engine-tls", ISSUER)
    made = {"config": tls_config(), "mount": tls_mount("sales", 3), "hash": hashed}
    assert [plain(made)] == golden("engine.yaml")


def test_an_engine_rolls_for_another_key_and_not_for_another_lifetime() -> None:
    before = engine_tls_hash("inst-engine-tls", ISSUER)
    assert engine_tls_hash("inst-engine-tls", msgspec.structs.replace(ISSUER, size=256)) != before
    assert engine_tls_hash("inst-engine-tls", msgspec.structs.replace(ISSUER, duration="1h")) == before
    assert engine_tls_hash("other", None) != engine_tls_hash("inst-engine-tls", None) != before


def test_what_the_gateway_gets_is_what_is_written_down() -> None:
    known = revisions(inst_gateway_tls="1", clients="2", client_crl="3", inst_engine_ca_bundle="r7", revoked="5")
    full = gateway_tls(secured(FULL, engine_tls=ENGINE_STATUS, gateway_tls=MUTUAL_STATUS), known)
    assert [plain(full)] == golden("gateway.yaml")


def test_without_a_record_nothing_is_served_and_nothing_is_mounted() -> None:
    waiting = secured(FULL)
    assert is_closed(waiting)
    assert gateway_tls(waiting, revisions()) == GatewayTLS(is_closed=True)
    assert not is_closed(secured(None))
    assert not is_closed(secured(FULL, gateway_tls=MUTUAL_STATUS))


def test_a_list_that_cannot_be_used_rolls_nobody_and_stays_mounted() -> None:
    instance = secured(TLSSpec(engine=FULL.engine), engine_tls=ENGINE_STATUS)
    found = gateway_tls(instance, revisions(inst_engine_ca_bundle="r7"))
    assert found.revisions == ("inst-engine-ca-bundle=r7",)
    assert [mount.secret for mount in found.mounts] == ["inst-engine-ca-bundle", "revoked"]
    spoilt = SecretRevisions(
        known={"inst-engine-ca-bundle": "r7"}, before={"revoked": "5", "inst-engine-ca-bundle": "r6"}
    )
    assert gateway_tls(instance, spoilt).revisions == ("inst-engine-ca-bundle=r7", "revoked=5")


def test_one_way_tls_asks_clients_for_nothing() -> None:
    one_way = GatewayTLSStatus(secret_name="own", created_at=NOON, mode="TLS")
    own = TLSSpec(gateway=TLSListener(enabled=True, secret_ref=LocalRef(name="own")))
    found = gateway_tls(secured(own, gateway_tls=one_way), revisions(own="1"))
    assert found.downstream is not None
    context = found.downstream["typed_config"]
    assert "require_client_certificate" not in context
    assert "validation_context" not in context["common_tls_context"]
    assert (found.upstream, [mount.secret for mount in found.mounts]) == (None, ["own"])


def test_what_is_recorded_is_served_not_what_is_asked_for() -> None:
    one_way = GatewayTLSStatus(secret_name="own", created_at=NOON, mode="TLS")
    found = gateway_tls(secured(FULL, gateway_tls=one_way), revisions())
    assert [mount.secret for mount in found.mounts] == ["own"]


def test_an_instance_that_never_asked_for_tls_is_rendered_as_before() -> None:
    assert envoy_yaml(gateway_inputs(tls=gateway_tls(an_instance(), revisions()))) == envoy_yaml(gateway_inputs())


def test_a_closed_gateway_listens_for_probes_and_metrics_only() -> None:
    closed = closed_bootstrap(gateway_inputs(wake=True))["static_resources"]
    assert [each["name"] for each in closed["listeners"]] == ["stats_listener"]
    assert [each["name"] for each in closed["clusters"]] == ["admin_stats"]
