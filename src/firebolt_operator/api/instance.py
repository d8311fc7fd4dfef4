"""FireboltInstance: the database, the metadata service and the gateway that engines share."""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

from firebolt_operator.api.auth import AuthSpec, AuthStatus
from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.model import (
    Duration,
    Int32,
    Int64,
    LocalRef,
    Model,
    ObjectMeta,
    PodTemplate,
    StatusModel,
    note,
    rule,
)
from firebolt_operator.api.postgres_storage import SIZE_RULE, PostgresStorageSpec
from firebolt_operator.api.postgres_tls import PostgresTLSSpec
from firebolt_operator.api.tls import EngineTLSStatus, GatewayTLSStatus, TLSSpec

IDENTIFIER = r"^[A-Za-z0-9_.\-]+$"


class PostgresSpec(Model, frozen=True, kw_only=True):
    """A PostgreSQL server of your own."""

    host: Annotated[
        str,
        Meta(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9.\-:\[\]]+$"),
        note("Host name or address; IPv6 addresses in brackets."),
    ]
    port: Annotated[Int32, note("Port of the server.", default=5432)] = 5432
    database: Annotated[str, Meta(min_length=1, max_length=63, pattern=IDENTIFIER), note("Name of the database.")]
    schema: Annotated[
        str,
        Meta(min_length=1, max_length=63, pattern=IDENTIFIER),
        note("Schema inside the database.", default="public"),
    ] = "public"
    credentials_secret_ref: Annotated[
        LocalRef,
        note(
            "Secret of this namespace with the keys username and password.",
            **{"x-kubernetes-map-type": "atomic"},
        ),
    ]
    tls: Annotated[
        PostgresTLSSpec | None, note("Verified TLS towards the server; absent means that none is asked for.")
    ] = None


class MetadataSpec(Model, frozen=True, kw_only=True):
    replicas: Annotated[Int32 | None, note("Pods of the metadata service; only 1 is possible.")] = None
    engine_registration: Annotated[
        bool, note("Accepted, and not used yet: it changes nothing in this release.", default=False)
    ] = False
    config_format: Annotated[
        Literal["XML", "YAML"],
        note("Dialect of the metadata service's configuration file: XML, or YAML for newer images.", default="XML"),
    ] = "XML"
    template: Annotated[PodTemplate | None, note("Changes to the metadata service's pods.")] = None
    postgres: Annotated[
        PostgresSpec | None, note("A PostgreSQL server of your own; absent means the operator runs one.")
    ] = None
    postgres_storage: Annotated[
        PostgresStorageSpec, note("Disk and resources of the PostgreSQL that the operator runs.")
    ] = PostgresStorageSpec()


class GatewaySpec(Model, frozen=True, kw_only=True):
    replicas: Annotated[Int32 | None, note("Pods of the gateway; 2 when unset.")] = None
    metrics_port: Annotated[Int32, Meta(ge=1, le=65535), note("Port of the gateway's metrics.", default=9090)] = 9090
    hold_timeout: Annotated[
        Duration,
        note("Longest time that a query waits for its engine to start; 1s to 30m.", default="120s"),
    ] = "120s"
    drain_timeout: Annotated[
        Duration,
        note("Longest time that a pod which stops waits for its running queries; 15s to 24h.", default="15s"),
    ] = "15s"
    template: Annotated[PodTemplate | None, note("Changes to the gateway's pods.")] = None


ID_RULE = rule(
    "oldSelf == '' || self == oldSelf || self.lowerAscii() == oldSelf.lowerAscii()",
    "spec.id is immutable once set except for case",
)
METADATA_RULE = rule("!has(self.replicas) || self.replicas == 1", "metadata replicas must be 1")
AUTH_RULE = rule("!self.enabled || has(self.local)", "spec.auth.local is required when spec.auth.enabled is true")


class InstanceSpec(Model, frozen=True, kw_only=True):
    id: Annotated[
        str,
        note(
            "Identity of the instance; made when it is created without one, and fixed from then on but for its case.",
            # Not a constraint of the model: a longer one that was stored before must still be read.
            maxLength=128,
            **{"x-kubernetes-validations": [ID_RULE]},
        ),
    ] = ""
    metadata_ng: Annotated[
        bool,
        note("Configuration for the next generation of the metadata service, in YAML. Experimental.", default=False),
    ] = msgspec.field(default=False, name="metadataNG")
    metric_scrape_mode: Annotated[
        Literal["PodIP", "ApiserverProxy"],
        note(
            "How the operator reads engine metrics: through the API server, or straight from pod addresses.",
            default="ApiserverProxy",
        ),
    ] = "ApiserverProxy"
    metadata: Annotated[
        MetadataSpec, note("The metadata service.", **{"x-kubernetes-validations": [METADATA_RULE, SIZE_RULE]})
    ]
    gateway: Annotated[GatewaySpec, note("The Envoy gateway that clients talk to.")]
    auth: Annotated[AuthSpec | None, note("Authentication.", **{"x-kubernetes-validations": [AUTH_RULE]})] = None
    tls: Annotated[TLSSpec | None, note("TLS of the gateway and of the engines.")] = None

    @property
    def asks_for_auth(self) -> bool:
        return self.auth is not None and self.auth.enabled


class InstanceStatus(StatusModel, frozen=True, kw_only=True):
    always_shown: ClassVar[tuple[str, ...]] = ("metadata_ready", "gateway_ready")

    phase: Annotated[
        Literal["", "Provisioning", "Ready", "Degraded", "Failed"],
        note("State of the instance as a whole.", enum=["Provisioning", "Ready", "Degraded", "Failed"]),
    ] = ""
    observed_generation: Annotated[Int64, note("metadata.generation of the instance that this status speaks of.")] = 0
    instance_id: Annotated[str, note("The id that was first published to engines.")] = msgspec.field(
        default="", name="instanceID"
    )
    metadata_ready: Annotated[bool, note("The metadata service has a ready pod.")] = False
    gateway_ready: Annotated[bool, note("The gateway has a ready pod.")] = False
    metadata_endpoint: Annotated[
        str, note("Where engines reach the metadata service; empty while it is not ready.")
    ] = ""
    gateway_endpoint: Annotated[str, note("Where clients reach the gateway; empty while it is not ready.")] = ""
    auth: Annotated[AuthStatus | None, note("State of authentication.")] = None
    engine_tls: Annotated[EngineTLSStatus | None, note("State of TLS on engines.")] = msgspec.field(
        default=None, name="engineTLS"
    )
    gateway_tls: Annotated[GatewayTLSStatus | None, note("State of TLS on the gateway.")] = msgspec.field(
        default=None, name="gatewayTLS"
    )
    rolled_engine_trust_cas: Annotated[list[str], note("Fingerprints of the CAs that the gateway trusts.")] = (
        msgspec.field(default_factory=list, name="rolledEngineTrustCAs")
    )
    conditions: Annotated[list[Condition], note("What is true of the instance, and why.")] = []


class FireboltInstance(Model, frozen=True, kw_only=True):
    """The infrastructure that Firebolt engines share: database, metadata service and gateway."""

    metadata: ObjectMeta
    spec: Annotated[InstanceSpec, note("What the instance should be.")]
    status: Annotated[InstanceStatus, note("What the instance is.")] = msgspec.field(default_factory=InstanceStatus)
