"""What does an engine accept as its configuration file? Known keys only, at every level; `storage` is free."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from firebolt_local.standins.strict_files import ConfigError, Section, read_strictly

CONFIG_FILE: Final = "config.yaml"
DEFAULT_QUERY_PORT: Final = 3473
_DURATION: Final = re.compile(r"(?P<number>\d+)(?P<unit>ms|s|m|h)")
_UNITS: Final = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours"}


class MultiEngine(Section, frozen=True):
    metadata_endpoint: str  # host:port


class AdminUser(Section, frozen=True):
    password_file: str
    name: str | None = None


class SigningKey(Section, frozen=True):
    id: str
    private_key_path: str


class TokenTimes(Section, frozen=True):
    token_expiry: str | None = None
    max_token_age: str | None = None
    clock_skew_tolerance: str | None = None


class LocalUsers(Section, frozen=True):
    signing_keys: list[SigningKey]
    signing_algorithm: str | None = None
    jwt: TokenTimes | None = None


class Provisioning(Section, frozen=True):
    enabled: bool
    default_roles: list[str] | None = None


class KeySet(Section, frozen=True):
    cache_ttl: str | None = None


class Discovery(Section, frozen=True):
    refresh_interval: str | None = None


class Provider(Section, frozen=True):
    name: str
    discovery_url: str
    username_mapping: str
    title: str | None = None
    audience: str | None = None
    jit_provisioning: Provisioning | None = None
    jwks: KeySet | None = None
    discovery: Discovery | None = None


class TokenChecks(Section, frozen=True):
    clock_skew_tolerance: str | None = None
    max_token_age: str | None = None


class OpenIdConnect(Section, frozen=True):
    providers: list[Provider]
    jwt: TokenChecks | None = None


class Auth(Section, frozen=True):
    enabled: bool
    admin: AdminUser
    local: LocalUsers
    password_login: str | None = None
    preferred_authorization_server: str | None = None
    oidc: OpenIdConnect | None = None


class Instance(Section, frozen=True):
    id: str
    type: Literal["multi_engine"]
    multi_engine: MultiEngine
    auth: Auth | None = None


class Node(Section, frozen=True):
    host: str


class Engine(Section, frozen=True):
    id: str
    nodes: list[Node]
    termination_grace_period: str


class Logging(Section, frozen=True):
    format: Literal["json", "text"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class Tls(Section, frozen=True):
    certificate_file: str
    private_key_file: str


class Listener(Section, frozen=True):
    type: Literal["tcp"]
    port: int
    tls: Tls | None = None


class HttpEndpoint(Section, frozen=True):
    listeners: list[Listener]


class Endpoints(Section, frozen=True):
    http: HttpEndpoint


class Config(Section, frozen=True):
    schema_version: Literal["1.0"]
    instance: Instance
    engine: Engine
    logging: Logging = Logging()
    endpoints: Endpoints | None = None
    storage: dict[str, Any] | None = None

    @property
    def grace_period(self) -> timedelta:
        return parse_duration(self.engine.termination_grace_period)

    @property
    def query_listener(self) -> Listener:
        """A declared listener replaces the plain one."""
        if self.endpoints is None:
            return Listener(type="tcp", port=DEFAULT_QUERY_PORT)
        return self.endpoints.http.listeners[0]


def load_config(path: Path, *, node: int) -> Config:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as err:
        raise ConfigError(f"{path}: {err}") from err
    try:
        config = read_strictly(content, Config)
        _check(config, node)
    except ConfigError as err:
        raise ConfigError(f"{path}: {err}") from err
    return config


def parse_duration(text: str) -> timedelta:
    """Numbers with units, one after the other: `55s`, `1m30s`."""
    parts = list(_DURATION.finditer(text))
    if not text or "".join(part[0] for part in parts) != text:
        raise ConfigError(f"not a duration: {text!r}")
    return sum((timedelta(**{_UNITS[part["unit"]]: int(part["number"])}) for part in parts), timedelta())


def _check(config: Config, node: int) -> None:
    parse_duration(config.engine.termination_grace_period)
    if not 0 <= node < len(config.engine.nodes):
        raise ConfigError(f"--node {node}: engine.nodes has {len(config.engine.nodes)} entries")
    if config.endpoints is not None and len(config.endpoints.http.listeners) != 1:
        raise ConfigError("endpoints.http.listeners: exactly one is supported")
    host, _, port = config.instance.multi_engine.metadata_endpoint.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError("instance.multi_engine.metadata_endpoint: want host:port")
