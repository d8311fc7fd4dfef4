"""The manager's flags and environment, parsed once into a frozen value. Nothing else reads either."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from firebolt_operator.api.durations import parse_duration
from firebolt_operator.api.engine_settings import MOST_REPLICAS
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import BOOLEANS, Flag, Kind, UsageError, parse_flags
from firebolt_operator.observability.log_flags import LOG_FLAGS, parse_log_settings
from firebolt_operator.observability.logs import LogSettings

RELEASE_TAG = "release-5.0.1-0.20260713060957.513515666721"

FLAGS: tuple[Flag, ...] = (
    Flag(name="version", kind=Kind.BOOLEAN, default="false", help="print the version and exit"),
    Flag(name="kubeconfig", help="path to a kubeconfig; only for running outside a cluster"),
    Flag(name="namespaces", help="comma-separated namespaces to watch; empty means all"),
    Flag(name="watch-label-selector", help="label selector that narrows all Firebolt kinds"),
    Flag(name="metrics-bind-address", default="0", help="where metrics are served; 0 turns them off"),
    Flag(name="metrics-secure", kind=Kind.BOOLEAN, default="true", help="serve metrics by HTTPS to authorised callers"),
    Flag(name="metrics-cert-path", help="folder of the metrics certificate"),
    Flag(name="metrics-cert-name", default="tls.crt", help="file name of the metrics certificate"),
    Flag(name="metrics-cert-key", default="tls.key", help="file name of the metrics key"),
    Flag(name="health-probe-bind-address", default=":8081", help="where health is served; 0 turns it off"),
    Flag(name="leader-elect", kind=Kind.BOOLEAN, default="false", help="let one of several replicas lead"),
    Flag(name="leader-elect-namespace", help="namespace of the lease; needed outside a cluster only"),
    Flag(name="operator-account", help="NAMESPACE/NAME of the operator's ServiceAccount; no gateway may use it"),
    Flag(name="enable-webhooks", kind=Kind.BOOLEAN, default="false", help="answer the API server's admission reviews"),
    Flag(name="webhook-bind-address", default=":9443", help="where admission reviews are answered"),
    Flag(name="webhook-cert-path", help="folder of the webhook certificate; empty: the operator makes one"),
    Flag(name="webhook-cert-name", default="tls.crt", help="file name of the webhook certificate"),
    Flag(name="webhook-cert-key", default="tls.key", help="file name of the webhook key"),
    Flag(name="webhook-secret", help="NAMESPACE/NAME of the Secret for certificates that the operator makes"),
    Flag(name="webhook-configuration", help="name of the webhook configurations that are to trust these certificates"),
    Flag(name="webhook-names", help="comma-separated names and addresses that the webhook server is asked by"),
    Flag(name="webhook-cert-life", default="2160h", help="how long certificates that the operator makes are valid"),
    Flag(name="enable-http2", kind=Kind.BOOLEAN, default="false", help="allow HTTP/2 on TLS listeners"),
    Flag(name="engine-max-cpu", help="largest CPU request or limit of an engine container"),
    Flag(name="engine-max-memory", help="largest memory request or limit of an engine container"),
    Flag(name="engine-max-ephemeral-storage", help="largest ephemeral-storage request or limit of an engine container"),
    Flag(
        name="engine-max-replicas",
        kind=Kind.NUMBER,
        default=str(MOST_REPLICAS),
        help="largest number of nodes of an engine",
    ),
    Flag(name="drain-settle", default="35s", help="shortest time a switched-off generation keeps running; 0 for none"),
    Flag(name="concurrent-passes", kind=Kind.NUMBER, default="16", help="objects of one kind worked on at a time"),
    Flag(
        name="max-rolling",
        kind=Kind.NUMBER,
        default="0",
        help="engines that roll at a time because of one class, preset or default image; 0 for no limit",
    ),
    Flag(
        name="scrapes-per-second",
        kind=Kind.NUMBER,
        default="100",
        help="most questions to engine pods through the API server; 0 for no limit",
    ),
    Flag(
        name="engine-image",
        default=f"ghcr.io/firebolt-db/engine:{RELEASE_TAG}",
        environment="FIREBOLT_ENGINE_IMAGE",
        help="image of engines whose template names none",
    ),
    Flag(
        name="metadata-image",
        default=f"ghcr.io/firebolt-db/metadata:{RELEASE_TAG}",
        environment="FIREBOLT_METADATA_IMAGE",
        help="image of metadata services whose template names none",
    ),
    Flag(
        name="gateway-image",
        default="envoyproxy/envoy:v1.37.2",
        environment="FIREBOLT_GATEWAY_IMAGE",
        help="image of gateways whose template names none",
    ),
    Flag(
        name="postgres-image",
        default="postgres:16-alpine",
        environment="FIREBOLT_POSTGRES_IMAGE",
        help="image of the internal PostgreSQL",
    ),
    Flag(
        name="ui-image",
        default="ghcr.io/firebolt-db/firebolt-core-ui:latest",
        environment="FIREBOLT_UI_IMAGE",
        help="image of the web UI sidecar",
    ),
    Flag(
        name="wake-agent-image",
        environment="FIREBOLT_WAKE_AGENT_IMAGE",
        help="image of the gateway's wake agent; empty leaves waking on a query out",
    ),
    Flag(name="wake-agent-image-pull-policy", help="pull policy of the wake agent"),
    *LOG_FLAGS,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    bind_address: str  # "0" means off
    secure: bool
    cert_path: str
    cert_name: str
    cert_key: str
    http2: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookSettings:
    bind_address: str
    cert_path: str  # empty: the operator makes its own certificates, and the next four say how
    cert_name: str
    cert_key: str
    secret: tuple[str, str]  # namespace and name
    configuration: str
    names: tuple[str, ...]
    cert_life: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Images:
    engine: str
    metadata: str
    gateway: str
    postgres: str
    ui: str
    wake_agent: str
    wake_agent_pull_policy: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    show_version: bool
    kubeconfig: str
    namespaces: tuple[str, ...]  # empty means all
    watch_label_selector: str
    metrics: MetricsSettings
    webhooks: WebhookSettings | None  # None: off
    health_probe_bind_address: str
    leader_elect: bool
    leader_elect_namespace: str
    operator_account: str  # empty: nobody said
    engine_max_cpu: str
    engine_max_memory: str
    engine_max_ephemeral_storage: str
    engine_max_replicas: int
    drain_settle: timedelta
    concurrent_passes: int
    max_rolling: int  # engines at a time for one and the same cause; 0: no limit
    scrapes_per_second: int  # through the API server; 0: no limit
    images: Images
    logs: LogSettings


def parse_settings(words: Sequence[str], environment: Mapping[str, str]) -> Settings:
    values = parse_flags(words, FLAGS, environment)
    return Settings(
        show_version=BOOLEANS[values["version"]],
        kubeconfig=values["kubeconfig"],
        namespaces=_words(values["namespaces"]),
        watch_label_selector=values["watch-label-selector"],
        metrics=_metrics(values),
        webhooks=_webhooks(values) if BOOLEANS[values["enable-webhooks"]] else None,
        health_probe_bind_address=values["health-probe-bind-address"],
        leader_elect=BOOLEANS[values["leader-elect"]],
        leader_elect_namespace=values["leader-elect-namespace"],
        operator_account=values["operator-account"],
        engine_max_cpu=values["engine-max-cpu"],
        engine_max_memory=values["engine-max-memory"],
        engine_max_ephemeral_storage=values["engine-max-ephemeral-storage"],
        engine_max_replicas=_most_replicas(values["engine-max-replicas"]),
        drain_settle=_drain_settle(values["drain-settle"]),
        concurrent_passes=_at_least("concurrent-passes", values["concurrent-passes"], 1),
        max_rolling=_at_least("max-rolling", values["max-rolling"], 0),
        scrapes_per_second=_at_least("scrapes-per-second", values["scrapes-per-second"], 0),
        images=_images(values),
        logs=parse_log_settings(values),
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _metrics(values: Mapping[str, str]) -> MetricsSettings:
    return MetricsSettings(
        bind_address=values["metrics-bind-address"] or ":8080",
        secure=BOOLEANS[values["metrics-secure"]],
        cert_path=values["metrics-cert-path"],
        cert_name=values["metrics-cert-name"],
        cert_key=values["metrics-cert-key"],
        http2=BOOLEANS[values["enable-http2"]],
    )


def _webhooks(values: Mapping[str, str]) -> WebhookSettings:
    settings = WebhookSettings(
        bind_address=values["webhook-bind-address"],
        cert_path=values["webhook-cert-path"],
        cert_name=values["webhook-cert-name"],
        cert_key=values["webhook-cert-key"],
        secret=_namespaced("webhook-secret", values["webhook-secret"]),
        configuration=values["webhook-configuration"],
        names=_words(values["webhook-names"]),
        cert_life=_positive("webhook-cert-life", values["webhook-cert-life"]),
    )
    if not settings.cert_path and not all((settings.secret[1], settings.configuration, settings.names)):
        raise ConfigurationError(
            "--enable-webhooks needs a certificate: set --webhook-cert-path, or have the operator make one with"
            " --webhook-secret, --webhook-configuration and --webhook-names"
        )
    return settings


def _namespaced(flag: str, text: str) -> tuple[str, str]:
    namespace, slash, name = text.partition("/")
    if text and not (namespace and slash and name):
        raise ConfigurationError(f'--{flag} "{text}": want NAMESPACE/NAME')
    return namespace, name


def _positive(flag: str, text: str) -> timedelta:
    try:
        duration = parse_duration(text)
    except ValueError as err:
        raise ConfigurationError(f'--{flag} "{text}": {err}') from err
    if duration <= timedelta(0):
        raise ConfigurationError(f'--{flag} "{text}": must be positive')
    return duration


def _images(values: Mapping[str, str]) -> Images:
    return Images(
        engine=values["engine-image"],
        metadata=values["metadata-image"],
        gateway=values["gateway-image"],
        postgres=values["postgres-image"],
        ui=values["ui-image"],
        wake_agent=values["wake-agent-image"],
        wake_agent_pull_policy=values["wake-agent-image-pull-policy"],
    )


def _drain_settle(text: str) -> timedelta:
    try:
        settle = parse_duration(text)
    except ValueError as err:
        raise ConfigurationError(f'--drain-settle "{text}": {err}') from err
    if settle < timedelta(0):
        raise ConfigurationError(f'--drain-settle "{text}": must not be negative; 0 turns the wait off')
    return settle


def _most_replicas(text: str) -> int:
    if not 1 <= int(text) <= MOST_REPLICAS:
        raise UsageError(f'invalid value "{text}" for flag -engine-max-replicas: must be from 1 to {MOST_REPLICAS}')
    return int(text)


def _at_least(name: str, text: str, least: int) -> int:
    if int(text) < least:
        raise UsageError(f'invalid value "{text}" for flag -{name}: must be at least {least}')
    return int(text)
