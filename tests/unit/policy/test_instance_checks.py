"""What admission refuses about an instance, and what the controller refuses to render."""

import pytest

from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import (
    check_instance,
    check_metrics_port,
    check_postgres_reference,
    rejected_component,
)
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import (
    AUTH,
    a_container,
    a_secret_volume,
    a_template,
    an_instance,
    an_instance_spec,
    paths,
    with_signing_keys,
)

POSTGRES: Manifest = {"host": "pg.example.com", "database": "firebolt", "credentialsSecretRef": {"name": "pg"}}
HOSTNAME = a_template(hostname="x")
RESOURCES = "spec.metadata.postgresStorage.resources"
AUTHORITY = "spec.metadata.postgres.tls.caSecretRef"
NO_QUANTITY = "must be a quantity of 0 or more, such as 500m or 1Gi"


@pytest.mark.parametrize(
    "metadata",
    [
        pytest.param({}, id="nothing-said"),
        pytest.param({"replicas": 1}, id="one-replica"),
        pytest.param({"postgres": POSTGRES}, id="external-postgres-with-a-secret"),
    ],
)
def test_accepted(metadata: Manifest) -> None:
    assert check_instance(an_instance(metadata=metadata)) == []


@pytest.mark.parametrize("replicas", [0, 2])
def test_metadata_replicas_other_than_one_are_refused(replicas: int) -> None:
    text = aggregate(check_instance(an_instance(metadata={"replicas": replicas})))
    assert text == (
        f"spec.metadata.replicas: Invalid value: {replicas}: metadata replicas must be 1;"
        " two metadata services must never write to one database"
    )


@pytest.mark.parametrize(
    ("resources", "refused"),
    [
        pytest.param({"requests": {"cpu": "1"}, "limits": {"cpu": "1000m"}}, "", id="as-much-as-the-limit"),
        pytest.param({"requests": {"cpu": "1"}, "limits": {"memory": "1Gi"}}, "", id="limits-of-something-else"),
        pytest.param(
            {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}},
            f'{RESOURCES}.requests[memory]: Invalid value: "2Gi": must be at most the limit, which is 1Gi',
            id="more-than-the-limit",
        ),
        pytest.param(
            {"limits": {"cpu": "-1"}},
            f'{RESOURCES}.limits[cpu]: Invalid value: "-1": {NO_QUANTITY}',
            id="less-than-nothing",
        ),
        pytest.param(
            {"requests": {"cpu": "much"}, "limits": {"cpu": "more"}},
            f'[{RESOURCES}.limits[cpu]: Invalid value: "more": {NO_QUANTITY},'
            f' {RESOURCES}.requests[cpu]: Invalid value: "much": {NO_QUANTITY}]',
            id="words",
        ),
    ],
)
def test_resources_of_the_internal_database(resources: Manifest, refused: str) -> None:
    instance = an_instance(metadata={"postgresStorage": {"resources": resources}})
    assert aggregate(check_instance(instance)) == refused
    rejected = rejected_component(instance)
    found = (rejected.condition, rejected.reason) if rejected else None
    assert found == (("MetadataReady", "SpecInvalid") if refused else None)


@pytest.mark.parametrize(
    ("authority", "refused"),
    [
        pytest.param({"name": "ca", "key": "ca.crt"}, "", id="a-secret-and-its-key"),
        pytest.param({"name": "ca", "key": "ca.crt", "optional": False}, "", id="not-optional"),
        pytest.param(
            {"name": "", "key": ""},
            f"[{AUTHORITY}.name: Required value: must be set when spec.metadata.postgres.tls is configured,"
            f" {AUTHORITY}.key: Required value: must be set when spec.metadata.postgres.tls is configured]",
            id="neither",
        ),
        pytest.param(
            {"name": "ca", "key": "ca.crt", "optional": True},
            f"{AUTHORITY}.optional: Forbidden: cannot be true because verified TLS requires the selected CA key",
            id="optional",
        ),
        *(
            pytest.param(
                {"name": name, "key": "password"},
                f"{AUTHORITY}.name: Forbidden: must not reference a Secret provisioned by the operator",
                id=name,
            )
            for name in ("other-metadata-postgres-creds", "inst-auth-signing", "eng-g4-engine-tls")
        ),
    ],
)
def test_the_authority_of_an_external_database(authority: Manifest, refused: str) -> None:
    instance = an_instance(metadata={"postgres": {**POSTGRES, "tls": {"caSecretRef": authority}}})
    assert aggregate(check_instance(instance)) == refused
    rejected = rejected_component(instance)
    found = (rejected.condition, rejected.reason) if rejected else None
    assert found == (("MetadataReady", "SpecInvalid") if refused else None)


@pytest.mark.parametrize("reference", [{}, {"name": ""}])
def test_external_postgres_needs_a_secret(reference: Manifest) -> None:
    instance = an_instance(metadata={"postgres": {**POSTGRES, "credentialsSecretRef": reference}})
    text = aggregate(check_instance(instance))
    assert text == (
        "spec.metadata.postgres.credentialsSecretRef.name: Required value:"
        " must be set when spec.metadata.postgres is configured; name the Secret with the keys username and password of"
        " the PostgreSQL server"
    )
    assert check_postgres_reference(instance.spec) == check_instance(instance)


@pytest.mark.parametrize(
    ("port", "taken_by"),
    [
        (8080, "the gateway's client listener"),
        (9901, "Envoy's admin interface"),
        (9902, "the wake agent's hold endpoint"),
        (9903, "the wake agent's metrics"),
    ],
)
def test_a_metrics_port_that_the_gateway_pod_uses_is_refused(port: int, taken_by: str) -> None:
    errors = check_instance(an_instance(gateway={"metricsPort": port}))
    assert aggregate(errors) == (
        f"spec.gateway.metricsPort: Invalid value: {port}: is the port of {taken_by}; pick a different one"
    )


@pytest.mark.parametrize("port", [1, 9090, 9904, 65535])
def test_other_metrics_ports_are_accepted(port: int) -> None:
    assert check_metrics_port(an_instance_spec(gateway={"metricsPort": port})) == []


def test_admission_reports_everything_at_once_in_a_fixed_order() -> None:
    instance = an_instance(
        gateway={"template": HOSTNAME, "metricsPort": 8080},
        metadata={"replicas": 2, "template": HOSTNAME, "postgres": {**POSTGRES, "credentialsSecretRef": {}}},
    )
    assert paths(check_instance(instance)) == [
        "spec.metadata.replicas",
        "spec.metadata.template.spec.hostname",
        "spec.gateway.template.spec.hostname",
        "spec.gateway.metricsPort",
        "spec.metadata.postgres.credentialsSecretRef.name",
    ]


def test_admission_refuses_the_secret_references_that_the_controller_refuses() -> None:
    template = a_template(volumes=[a_secret_volume("fine", "inst-auth-signing")])
    instance = an_instance(gateway={"template": template})
    rejected = rejected_component(instance)
    assert rejected is not None
    assert rejected.condition == "GatewayReady"
    assert check_instance(instance) == rejected.errors
    assert aggregate(rejected.errors) == (
        'spec.gateway.template.spec.volumes[0]: Forbidden: volume "fine" reaches Secret "inst-auth-signing", which the'
        " gateway operator mounts itself; use a Secret of your own"
    )


def test_nothing_is_rejected_about_a_plain_instance() -> None:
    assert rejected_component(an_instance()) is None


@pytest.mark.parametrize(
    ("account", "operator", "is_rejected"),
    [
        pytest.param("op", "ns/op", True, id="the-operators-own"),
        pytest.param("op", "elsewhere/op", False, id="a-namesake-in-another-namespace"),
        pytest.param("mine", "ns/op", False, id="another-account"),
        pytest.param("", "ns/inst-gateway", True, id="the-account-that-the-operator-would-make"),
        pytest.param("op", "", False, id="nobody-said-who-the-operator-is"),
    ],
)
def test_a_gateway_never_runs_as_the_operator(account: str, operator: str, is_rejected: bool) -> None:
    template = {"spec": {"serviceAccountName": account}} if account else {}
    rejected = rejected_component(an_instance(gateway={"template": template}), operator)
    if not is_rejected:
        assert rejected is None
        return
    assert rejected is not None
    assert rejected.condition == "GatewayReady"
    assert aggregate(rejected.errors) == (
        f'spec.gateway.template.spec.serviceAccountName: Invalid value: "{account or "inst-gateway"}": is the'
        " operator's own account; name one that a gateway alone uses"
    )


@pytest.mark.parametrize(
    ("spec", "condition", "path"),
    [
        pytest.param(
            {"metadata": {"template": HOSTNAME}, "gateway": {"template": HOSTNAME}},
            "MetadataReady",
            "spec.metadata.template.spec.hostname",
            id="of-two-bad-templates-metadata-is-reported",
        ),
        pytest.param(
            {"gateway": {"template": a_template(a_container("envoy", lifecycle={}))}},
            "GatewayReady",
            "spec.gateway.template.spec.containers[0].lifecycle",
            id="the-drain-hook-of-envoy-cannot-be-replaced",
        ),
        pytest.param(
            {"metadata": {"template": a_template(a_container("metadata", env=[{"name": "POSTGRES_USERNAME_FILE"}]))}},
            "MetadataReady",
            "spec.metadata.template.spec.containers[0].env",
            id="metadata-env-is-the-operators",
        ),
        pytest.param(
            {"metadata": {"template": a_template(volumes=[a_secret_volume("x", "inst-metadata-postgres-creds")])}},
            "MetadataReady",
            "spec.metadata.template.spec.volumes[0]",
            id="a-metadata-volume-reaches-the-database-credentials",
        ),
        pytest.param(
            {"gateway": {"template": a_template(a_container("side", envFrom=[{"secretRef": {"name": "k1"}}]))}},
            "GatewayReady",
            "spec.gateway.template.spec.containers[0]",
            id="a-gateway-sidecar-reads-a-signing-key",
        ),
        pytest.param(
            {
                "auth": AUTH,
                "metadata": {
                    "template": a_template(
                        initContainers=[
                            a_container(
                                "init",
                                env=[
                                    {"name": "A", "valueFrom": {"secretKeyRef": {"name": "admin-password", "key": "x"}}}
                                ],
                            )
                        ]
                    )
                },
            },
            "MetadataReady",
            "spec.metadata.template.spec.initContainers[0]",
            id="a-metadata-init-container-reads-the-admin-password",
        ),
        pytest.param(
            {"gateway": {"metricsPort": 9901}},
            "GatewayReady",
            "spec.gateway.metricsPort",
            id="a-colliding-metrics-port",
        ),
        pytest.param(
            {"gateway": {"holdTimeout": "soon"}},
            "GatewayReady",
            "spec.gateway.holdTimeout",
            id="a-hold-that-is-no-duration",
        ),
        pytest.param(
            {"gateway": {"drainTimeout": "14s"}},
            "GatewayReady",
            "spec.gateway.drainTimeout",
            id="a-drain-that-is-too-short",
        ),
    ],
)
def test_the_controller_renders_nothing_for(spec: Manifest, condition: str, path: str) -> None:
    rejected = rejected_component(an_instance(status=with_signing_keys("k1"), **spec))
    assert rejected is not None
    assert (rejected.condition, paths(rejected.errors)) == (condition, [path])


@pytest.mark.parametrize(
    ("field", "text", "detail"),
    [
        ("holdTimeout", "999ms", '"999ms" is out of range; use 1s to 30m'),
        ("holdTimeout", "30m0.001s", '"30m0.001s" is out of range; use 1s to 30m'),
        ("holdTimeout", "0", '"0" is out of range; use 1s to 30m'),
        ("holdTimeout", "-120s", '"-120s" is out of range; use 1s to 30m'),
        ("holdTimeout", "two minutes", '"two minutes" is not a duration; write it like 30s or 1h30m'),
        ("drainTimeout", "14.999s", '"14.999s" is out of range; use 15s to 24h'),
        ("drainTimeout", "24h1ns", '"24h1ns" is out of range; use 15s to 24h'),
        ("drainTimeout", "", '"" is not a duration; write it like 30s or 1h30m'),
        ("drainTimeout", "1d", '"1d" is not a duration; write it like 30s or 1h30m'),
    ],
)
def test_a_time_of_the_gateway_that_makes_no_sense_is_refused(field: str, text: str, detail: str) -> None:
    [error] = check_instance(an_instance(gateway={field: text}))
    assert (error.path.text, error.detail) == (f"spec.gateway.{field}", detail)


@pytest.mark.parametrize(("hold", "drain"), [("1s", "15s"), ("30m", "24h"), ("1800s", "1440m"), ("90s", "2m")])
def test_times_of_the_gateway_within_their_bounds_are_taken(hold: str, drain: str) -> None:
    assert check_instance(an_instance(gateway={"holdTimeout": hold, "drainTimeout": drain})) == []


@pytest.mark.parametrize(
    ("gateway", "reason"),
    [
        ({"drainTimeout": "1s"}, "SpecInvalid"),
        ({"metricsPort": 9901}, "SpecInvalid"),
        ({"template": HOSTNAME}, "TemplateRejected"),
        ({"template": HOSTNAME, "drainTimeout": "1s"}, "TemplateRejected"),
    ],
)
def test_a_reason_tells_a_template_from_the_rest_of_a_spec(gateway: Manifest, reason: str) -> None:
    rejected = rejected_component(an_instance(gateway=gateway))
    assert rejected is not None
    assert rejected.reason == reason
