"""Instances: templates of gateway and metadata service, the database, and all but authentication and TLS."""

from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission import templates
from tests.support.admission.case import Case, Condition, Without, forbidden, invalid, required
from tests.support.admission.templates import container, mounting, pod

GATEWAY_REJECTED: Final = Condition(type="GatewayReady", reason="TemplateRejected")
METADATA_REJECTED: Final = Condition(type="MetadataReady", reason="TemplateRejected")
GATEWAY_INVALID: Final = Condition(type="GatewayReady", reason="SpecInvalid")
GATEWAY: Final = "spec.gateway.template"
METADATA: Final = "spec.metadata.template"
CLOSED: Final[Manifest] = {**templates.PRIMARY_FIELDS, **templates.CLOSED_FIELDS}
NEIGHBOURS: Final = (
    "other-metadata-postgres-creds",
    "other-auth-signing",
    "other-auth-signing-signing-3",
    "engine-a-g1-engine-tls",
    "other-gateway-tls",
)
"""Secrets that the operator keeps for another instance of the namespace."""
LOGIN: Final = "spec.metadata.postgres.credentialsSecretRef.name"


def spec(gateway: Manifest | None = None, metadata: Manifest | None = None, **fields: Any) -> Manifest:
    return {"gateway": gateway or {}, "metadata": metadata or {}, **fields}


def accepted(name: str, given: Manifest, **fields: Any) -> Case:
    return Case(id=name, kind="FireboltInstance", spec=given, **fields)


def refused(name: str, errors: tuple[str, ...], without: Without, given: Manifest, **fields: Any) -> Case:
    return Case(id=name, kind="FireboltInstance", spec=given, refused=errors, without=without, **fields)


def gateway(template: Manifest) -> Manifest:
    return spec(gateway={"template": template})


def metadata(template: Manifest) -> Manifest:
    return spec(metadata={"template": template})


def postgres(**fields: Any) -> Manifest:
    server = {"host": "pg.example.com", "database": "meta", "credentialsSecretRef": {"name": "db"}, **fields}
    return spec(metadata={"postgres": server})


_GATEWAY_SECRETS: Final = ("client-ca", "tls-gateway", "wake-agent-token", "engine-ca", "engine-crl", "client-crl")
GENERAL_ROWS: Final = (
    accepted("the least", spec()),
    *(
        Case(
            id=f"{replicas} metadata services",
            kind="FireboltInstance",
            spec=spec(metadata={"replicas": replicas}),
            schema="metadata replicas must be 1",
        )
        for replicas in (0, 2)
    ),
    accepted("one metadata service", spec(metadata={"replicas": 1})),
    accepted("one metadata service, by an edit", spec(metadata={"replicas": 1}), before=spec()),
    refused(
        "a database without a login",
        required(LOGIN),
        Condition(type="MetadataReady", reason="PostgresSecretPreflightFailed", names=(LOGIN,)),
        postgres(credentialsSecretRef={}),
    ),
    accepted("a database of one's own", postgres()),
    *(
        refused(
            f"a database with the login {name}",
            forbidden(LOGIN),
            Condition(type="MetadataReady", reason="SpecInvalid"),
            postgres(credentialsSecretRef={"name": name}),
        )
        for name in NEIGHBOURS
    ),
    refused(
        "an id that XML cannot say",
        invalid("spec.id"),
        Condition(type="MetadataReady", reason="EnsureFailed"),
        spec(id="a\x01b", metadata={"replicas": 1}),
    ),
    *(
        refused(
            f"metrics on the port of {owner}",
            invalid("spec.gateway.metricsPort"),
            GATEWAY_INVALID,
            spec({"metricsPort": port}),
        )
        for owner, port in (("the admin interface", 9901), ("the agent", 9902), ("the agent's metrics", 9903))
    ),
    accepted("metrics elsewhere", spec({"metricsPort": 65535})),
    refused(
        "times out of range",
        invalid("spec.gateway.holdTimeout", "spec.gateway.drainTimeout"),
        GATEWAY_INVALID,
        spec({"holdTimeout": "31m", "drainTimeout": "14s"}),
    ),
    refused(
        "no times at all",
        invalid("spec.gateway.holdTimeout", "spec.gateway.drainTimeout"),
        GATEWAY_INVALID,
        spec({"holdTimeout": "soon", "drainTimeout": ""}),
    ),
    accepted("the longest times", spec({"holdTimeout": "30m", "drainTimeout": "24h"})),
)
METADATA_ROWS: Final = (
    accepted(
        "labels and annotations of the metadata service",
        metadata({"metadata": {"labels": {"team": "data"}, "annotations": {"owner": "sre"}}}),
    ),
    refused(
        "reserved keys on the metadata service",
        forbidden(
            f"{METADATA}.metadata.labels[firebolt.io/config-hash]",
            f"{METADATA}.metadata.labels[firebolt.io/engine]",
            f"{METADATA}.metadata.annotations[firebolt.io/config-hash]",
        ),
        METADATA_REJECTED,
        metadata(
            {
                "metadata": {
                    "labels": {"firebolt.io/engine": "x", "team": "data", "firebolt.io/config-hash": "x"},
                    "annotations": {"firebolt.io/config-hash": "x"},
                }
            }
        ),
    ),
    refused(
        "every pod field of the metadata service",
        forbidden(
            *templates.paths(f"{METADATA}.spec", {**templates.POD_FIELDS, "automountServiceAccountToken": False})
        ),
        METADATA_REJECTED,
        metadata(pod(**templates.POD_FIELDS, automountServiceAccountToken=False, serviceAccountName="mine")),
    ),
    refused(
        "every field of the metadata container",
        forbidden(*templates.paths(f"{METADATA}.spec.containers[0]", CLOSED)),
        METADATA_REJECTED,
        metadata(pod(containers=[container("metadata", **CLOSED)])),
    ),
    refused(
        "names and volumes of the metadata service",
        forbidden(
            f"{METADATA}.spec.volumes[0].name",
            f"{METADATA}.spec.containers[0].volumeMounts[0].name",
            f"{METADATA}.spec.containers[1].volumeMounts[0].name",
            f"{METADATA}.spec.initContainers[0].name",
        ),
        METADATA_REJECTED,
        metadata(
            pod(
                volumes=[{"name": "config", "emptyDir": {}}],
                containers=[mounting("side", "postgres-creds"), mounting("other", "auth-signing-x")],
                initContainers=[container("metadata")],
            )
        ),
    ),
    Case(
        id="two metadata containers",
        kind="FireboltInstance",
        spec=metadata(pod(containers=[container("metadata"), container("metadata")])),
        schema=f"{METADATA}.spec.containers[1]",
    ),
    refused(
        "a huge metadata template",
        forbidden(f"{METADATA}.spec"),
        METADATA_REJECTED,
        metadata(templates.LARGE),
        is_heavy=True,
    ),
    accepted(
        "a sidecar with the metadata service's files",
        metadata(pod(containers=[mounting("side", "config"), mounting("other", "tmp")])),
    ),
    refused(
        "the password of the metadata database",
        forbidden(f"{METADATA}.spec.volumes[0]"),
        METADATA_REJECTED,
        metadata(pod(volumes=[templates.secret_volume("v", "it-metadata-postgres-creds")])),
    ),
)
GATEWAY_ROWS: Final = (
    refused(
        "reserved keys on the gateway",
        forbidden(f"{GATEWAY}.metadata.annotations[firebolt.io/generation]"),
        GATEWAY_REJECTED,
        gateway({"metadata": {"annotations": {"firebolt.io/generation": "1", "mine": "1"}}}),
    ),
    refused(
        "every pod field of the gateway",
        forbidden(*templates.paths(f"{GATEWAY}.spec", {**templates.POD_FIELDS, "automountServiceAccountToken": False})),
        GATEWAY_REJECTED,
        gateway(pod(**templates.POD_FIELDS, automountServiceAccountToken=False)),
    ),
    refused(
        "every field of the gateway's container",
        forbidden(*templates.paths(f"{GATEWAY}.spec.containers[0]", CLOSED)),
        GATEWAY_REJECTED,
        gateway(pod(containers=[container("envoy", **CLOSED)])),
    ),
    Case(
        id="two gateway containers",
        kind="FireboltInstance",
        spec=gateway(pod(containers=[container("envoy"), container("envoy")])),
        schema=f"{GATEWAY}.spec.containers[1]",
    ),
    refused(
        "names of the gateway's containers and volumes",
        forbidden(
            f"{GATEWAY}.spec.volumes[0].name",
            f"{GATEWAY}.spec.containers[0].name",
            f"{GATEWAY}.spec.initContainers[0].name",
        ),
        GATEWAY_REJECTED,
        gateway(
            pod(
                volumes=[{"name": "tls-gateway", "emptyDir": {}}],
                containers=[container("wake-agent")],
                initContainers=[container("envoy")],
            )
        ),
    ),
    refused(
        "Secret-backed volumes of the gateway",
        forbidden(*(f"{GATEWAY}.spec.containers[{index}].volumeMounts[0].name" for index in range(6))),
        GATEWAY_REJECTED,
        gateway(pod(containers=[mounting(f"side{index}", name) for index, name in enumerate(_GATEWAY_SECRETS)])),
    ),
    refused(
        "a huge gateway template",
        forbidden(f"{GATEWAY}.spec"),
        GATEWAY_REJECTED,
        gateway(templates.LARGE),
        is_heavy=True,
    ),
    accepted(
        "sidecars with the gateway's files",
        gateway(pod(containers=[mounting("side", "config-volume")], initContainers=[mounting("first", "tmp")])),
    ),
    refused(
        "a signing key in the gateway, both ways",
        forbidden(f"{GATEWAY}.spec.volumes[0]", f"{GATEWAY}.spec.containers[0]"),
        GATEWAY_REJECTED,
        gateway(
            pod(
                volumes=[templates.secret_volume("v", "inst-auth-signing")],
                containers=[templates.reading("side", "inst-auth-signing-signing-7")],
            )
        ),
    ),
    refused(
        "both templates",
        forbidden(f"{METADATA}.spec.hostname", f"{GATEWAY}.spec.hostname"),
        Condition(type="MetadataReady", reason="TemplateRejected", names=forbidden(f"{METADATA}.spec.hostname")),
        spec({"template": pod(hostname="x")}, {"template": pod(hostname="x")}),
    ),
    accepted(
        "all that is a person's own",
        spec(
            {
                "template": pod(
                    serviceAccountName="mine",
                    automountServiceAccountToken=True,
                    nodeSelector={"a": "b"},
                    tolerations=[{"operator": "Exists"}],
                    affinity={},
                    topologySpreadConstraints=[
                        {"topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "maxSkew": 1}
                    ],
                    priorityClassName="high",
                    securityContext={"runAsNonRoot": True},
                    imagePullSecrets=[{"name": "pull"}],
                    volumes=[{"name": "mine", "emptyDir": {}}],
                    containers=[container("envoy", resources={"limits": {"cpu": "1"}}), mounting("side", "mine")],
                    initContainers=[container("first")],
                )
            },
            {"template": pod(containers=[container("metadata", imagePullPolicy="Always")])},
        ),
    ),
    accepted(
        "an image of the gateway without a tag",
        gateway(pod(containers=[{"name": "envoy", "image": "envoy"}])),
        warns=('spec.gateway.template.spec.containers[0].image: "envoy" has no tag',),
    ),
)
ROWS: Final = (*GENERAL_ROWS, *METADATA_ROWS, *GATEWAY_ROWS)
