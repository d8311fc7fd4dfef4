"""Which instances does the API server itself take, without any webhook, and what does it say to the rest?"""

import pytest

from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest
from tests.api.crds.conftest import Stored

FRAGMENT: Manifest = {"spec": {"serviceAccountName": "someone"}}
FIXED_ID = "spec.id is immutable once set except for case"
UPPER_ID = "01J00000000000000000000000"
FIXED_SIZE = "spec.metadata.postgresStorage.size cannot change once the instance exists"


def an_instance(**fields: object) -> Manifest:
    return {"metadata": {}, "gateway": {}} | fields


def postgres(**fields: object) -> Manifest:
    server = {"host": "pg.example.com", "database": "db", "credentialsSecretRef": {"name": "pg"}}
    return an_instance(metadata={"postgres": server | fields})


def storage(size: object, **metadata: object) -> Manifest:
    return an_instance(metadata={"postgresStorage": {"size": size}} | metadata)


def certificate(*, issuer: str = "ca-a", **fields: object) -> Manifest:
    return {"issuerRef": {"name": issuer}} | fields


def local_auth(**fields: object) -> Manifest:
    local: Manifest = {
        "admin": {"password": {"name": "admin", "key": "password"}},
        "signingKeys": {"certManager": certificate()},
    }
    return an_instance(auth={"enabled": True, "local": local | fields})


def provider(**fields: object) -> Manifest:
    one = {"name": "idp", "discoveryURL": "https://idp.example.com", "usernameMapping": "email"}
    return an_instance(auth={"oidc": {"providers": [one | fields]}})


def listener(name: str, *, issuer: str = "ca-a", enabled: bool = True, **fields: object) -> Manifest:
    return an_instance(tls={name: {"enabled": enabled, "certManager": certificate(issuer=issuer, **fields)}})


@pytest.mark.parametrize(
    "spec",
    [
        pytest.param(an_instance(), id="the-smallest-instance"),
        pytest.param(an_instance(gateway={"template": FRAGMENT}), id="a-gateway-template-without-containers"),
        pytest.param(an_instance(metadata={"template": FRAGMENT}), id="a-metadata-template-without-containers"),
        pytest.param(an_instance(metadata={"replicas": 1}), id="one-metadata-pod"),
        pytest.param(an_instance(metadata={"configFormat": "YAML"}), id="metadata-configuration-in-yaml"),
        pytest.param(postgres(), id="a-database-by-host-name"),
        pytest.param(postgres(host="10.0.0.1"), id="a-database-by-ipv4-address"),
        pytest.param(postgres(host="[2001:db8::1]"), id="a-database-by-ipv6-address"),
        pytest.param(storage("20Gi"), id="a-size-of-the-database"),
        pytest.param(storage(20_000_000_000), id="a-size-of-the-database-in-bytes"),
        pytest.param(
            an_instance(metadata={"postgresStorage": {"resources": {"requests": {"cpu": 1, "memory": "1Gi"}}}}),
            id="resources-of-the-database",
        ),
        pytest.param(
            postgres(tls={"caSecretRef": {"name": "ca", "key": "ca.crt"}}), id="a-database-whose-identity-is-verified"
        ),
        pytest.param(an_instance(id="x" * 128), id="the-longest-id"),
        pytest.param(an_instance(gateway={"metricsPort": 1}), id="the-lowest-metrics-port"),
        pytest.param(an_instance(gateway={"metricsPort": 65535}), id="the-highest-metrics-port"),
        pytest.param(an_instance(metricScrapeMode="PodIP"), id="metrics-from-pod-addresses"),
        pytest.param(local_auth(), id="local-authentication"),
        pytest.param(provider(), id="an-identity-provider"),
        pytest.param(listener("gateway"), id="tls-on-the-gateway"),
        pytest.param(listener("engine"), id="tls-on-engines"),
    ],
)
async def test_accepted_instances(stored: Stored, spec: Manifest) -> None:
    await stored.create(FIREBOLT_INSTANCES, spec)


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        pytest.param({"metadata": {}}, "spec.gateway: Required value", id="no-gateway"),
        pytest.param({"gateway": {}}, "spec.metadata: Required value", id="no-metadata"),
        pytest.param(None, "spec: Required value", id="no-spec"),
        pytest.param(an_instance(id="x" * 129), "spec.id: Too long", id="an-id-that-is-too-long"),
        pytest.param(an_instance(metadata={"replicas": 2}), "metadata replicas must be 1", id="two-metadata-pods"),
        pytest.param(an_instance(metadata={"replicas": 0}), "metadata replicas must be 1", id="no-metadata-pods"),
        pytest.param(
            an_instance(metadata={"configFormat": "TOML"}),
            "spec.metadata.configFormat: Unsupported value",
            id="an-unknown-configuration-format",
        ),
        pytest.param(storage("0"), "postgresStorage.size must be more than 0", id="a-database-without-room"),
        pytest.param(storage("-1Gi"), "postgresStorage.size must be more than 0", id="a-database-of-less-than-nothing"),
        pytest.param(storage("big"), "spec.metadata.postgresStorage.size: Invalid value", id="a-size-in-words"),
        pytest.param(
            postgres(tls={"caSecretRef": {"key": "ca.crt"}}), "caSecretRef.name must be set", id="a-ca-without-a-secret"
        ),
        pytest.param(
            postgres(tls={"caSecretRef": {"name": "ca", "key": ""}}),
            "caSecretRef.key must be set",
            id="a-ca-without-a-key",
        ),
        pytest.param(
            postgres(tls={"caSecretRef": {"name": "ca", "key": "ca.crt", "optional": True}}),
            "caSecretRef.optional cannot be true",
            id="an-optional-ca",
        ),
        pytest.param(
            postgres(tls={"mode": "require", "caSecretRef": {"name": "ca", "key": "ca.crt"}}),
            "spec.metadata.postgres.tls.mode: Unsupported value",
            id="a-weaker-mode",
        ),
        pytest.param(postgres(tls={}), "spec.metadata.postgres.tls.caSecretRef: Required value", id="tls-without-a-ca"),
        pytest.param(
            postgres(host="<host>pg</host>"), "spec.metadata.postgres.host: Invalid value", id="tags-in-a-host"
        ),
        pytest.param(postgres(host="a b"), "spec.metadata.postgres.host: Invalid value", id="a-space-in-a-host"),
        pytest.param(postgres(host="a" * 254), "spec.metadata.postgres.host: Too long", id="a-host-of-254-characters"),
        pytest.param(
            local_auth(tokenExpiry="1" * 65), "spec.auth.local.tokenExpiry: Too long", id="a-token-lifetime-without-end"
        ),
        pytest.param(
            provider(jwks={"cacheTTL": "1" * 65}),
            "spec.auth.oidc.providers[0].jwks.cacheTTL: Too long",
            id="a-lifetime-of-keys-without-end",
        ),
        pytest.param(
            provider(usernameMapping="x" * 1025),
            "spec.auth.oidc.providers[0].usernameMapping: Too long",
            id="a-mapping-without-end",
        ),
        pytest.param(
            an_instance(tls={"gateway": {"dnsNames": ["x", "y" * 254]}}),
            "spec.tls.gateway.dnsNames[1]: Too long",
            id="a-name-of-254-characters",
        ),
        pytest.param(
            postgres(database="db&name"), "spec.metadata.postgres.database: Invalid value", id="an-unsafe-database"
        ),
        pytest.param(
            postgres(schema="s\"chema'"), "spec.metadata.postgres.schema: Invalid value", id="an-unsafe-schema"
        ),
        pytest.param(
            an_instance(gateway={"metricsPort": 0}), "spec.gateway.metricsPort: Invalid value", id="metrics-port-0"
        ),
        pytest.param(
            an_instance(gateway={"metricsPort": 65536}),
            "spec.gateway.metricsPort: Invalid value",
            id="metrics-port-65536",
        ),
        pytest.param(
            an_instance(metricScrapeMode="Proxy"), "spec.metricScrapeMode: Unsupported value", id="unknown-scrape-mode"
        ),
        pytest.param(
            an_instance(auth={"enabled": True}), "spec.auth.local is required", id="authentication-without-local-users"
        ),
        pytest.param(
            an_instance(auth={"oidc": {"providers": []}}), "spec.auth.oidc.providers: Invalid value", id="no-providers"
        ),
        pytest.param(
            provider(name="_x"),
            "spec.auth.oidc.providers[0].name: Invalid value",
            id="a-provider-that-starts-with-an-underscore",
        ),
        pytest.param(
            provider(discoveryURL="http://x"),
            "spec.auth.oidc.providers[0].discoveryURL: Invalid value",
            id="a-provider-without-tls",
        ),
        pytest.param(
            local_auth(signingAlgorithm="HS256"),
            "spec.auth.local.signingAlgorithm: Unsupported value",
            id="a-symmetric-signing-algorithm",
        ),
        pytest.param(
            local_auth(admin={"password": {"name": "admin"}}),
            "spec.auth.local.admin.password.key: Required value",
            id="a-password-without-a-key",
        ),
        pytest.param(
            an_instance(tls={"gateway": {"certManager": {"issuerRef": {"name": "x", "kind": "Vault"}}}}),
            "spec.tls.gateway.certManager.issuerRef.kind: Unsupported value",
            id="an-unknown-kind-of-issuer",
        ),
    ],
)
async def test_rejected_instances(stored: Stored, spec: Manifest | None, complaint: str) -> None:
    with pytest.raises(InvalidError) as refused:
        await stored.create(FIREBOLT_INSTANCES, spec)
    assert complaint in str(refused.value)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(an_instance(), an_instance(id="01H"), id="an-absent-id-is-filled-in"),
        pytest.param(an_instance(id=""), an_instance(id="01H"), id="an-empty-id-is-filled-in"),
        pytest.param(an_instance(), storage("10Gi"), id="the-default-size-said-aloud"),
        pytest.param(storage("10Gi"), an_instance(), id="the-default-size-left-out"),
        pytest.param(storage("1024Mi"), storage("1Gi"), id="the-same-size-in-other-words"),
        pytest.param(storage("5Gi"), storage("5Gi", configFormat="YAML"), id="the-same-size-and-something-else"),
        pytest.param(
            listener("engine"),
            listener("engine", issuer="ca-b", enabled=False),
            id="another-engine-issuer-while-turning-tls-off",
        ),
        pytest.param(listener("engine"), listener("engine", size=256), id="another-size-of-engine-keys"),
        pytest.param(listener("gateway"), listener("gateway", size=256), id="another-size-of-the-gateway-key"),
        pytest.param(listener("gateway"), listener("gateway", issuer="ca-b"), id="another-gateway-issuer"),
        pytest.param(an_instance(id=""), an_instance(id="a"), id="an-id-given-later"),
        pytest.param(an_instance(id=UPPER_ID), an_instance(id=UPPER_ID.lower()), id="an-id-in-lower-case"),
        pytest.param(an_instance(id=UPPER_ID.lower()), an_instance(id=UPPER_ID), id="and-back"),
    ],
)
async def test_accepted_changes_of_instances(stored: Stored, before: Manifest, after: Manifest) -> None:
    await stored.create(FIREBOLT_INSTANCES, before)
    await stored.replace_spec(FIREBOLT_INSTANCES, after)


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        pytest.param(an_instance(id="a"), an_instance(id="b"), FIXED_ID, id="another-instance-id"),
        pytest.param(an_instance(id="a"), an_instance(id=""), FIXED_ID, id="the-instance-id-emptied"),
        pytest.param(storage("5Gi"), storage("6Gi"), FIXED_SIZE, id="a-larger-database"),
        pytest.param(an_instance(), storage("11Gi"), FIXED_SIZE, id="larger-than-the-default"),
        pytest.param(storage("5Gi"), an_instance(), FIXED_SIZE, id="the-size-left-out"),
        pytest.param(
            storage("5Gi"),
            an_instance(metadata=postgres()["metadata"]),
            FIXED_SIZE,
            id="a-size-that-leaves-its-database",
        ),
        pytest.param(
            local_auth(signingAlgorithm="ES384"),
            local_auth(signingAlgorithm="ES256"),
            "signingAlgorithm is immutable once set",
            id="another-signing-algorithm",
        ),
        pytest.param(
            local_auth(signingAlgorithm="RS256"),
            local_auth(),
            "signingAlgorithm is immutable once set",
            id="the-signing-algorithm-left-out-means-the-default",
        ),
        pytest.param(
            local_auth(signingKeys={"certManager": certificate(size=384)}),
            local_auth(signingKeys={"certManager": certificate(size=256)}),
            "signing key size is immutable once set",
            id="another-size-of-signing-keys",
        ),
        pytest.param(
            listener("engine"),
            listener("engine", issuer="ca-b"),
            "spec.tls.engine.certManager.issuerRef is immutable while engine TLS is enabled",
            id="another-engine-issuer-while-tls-is-on",
        ),
    ],
)
async def test_rejected_changes_of_instances(stored: Stored, before: Manifest, after: Manifest, complaint: str) -> None:
    await stored.create(FIREBOLT_INSTANCES, before)
    with pytest.raises(InvalidError) as refused:
        await stored.replace_spec(FIREBOLT_INSTANCES, after)
    assert complaint in str(refused.value)
