"""What does an engine accept as its configuration file? Known keys only, at every level; `storage` is free."""

from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Literal

import yaml

from firebolt_local.standins.engine.auth.config import Auth, check_auth
from firebolt_local.standins.engine.durations import parse_duration
from firebolt_local.standins.releases import Release, check_engine_id
from firebolt_local.standins.strict_files import ConfigError, Section, Text, read_strictly

CONFIG_FILE: Final = "config.yaml"
DEFAULT_QUERY_PORT: Final = 3473


class MultiEngine(Section, frozen=True):
    metadata_endpoint: Text  # host:port


class Instance(Section, frozen=True):
    id: Text
    type: Literal["multi_engine"]
    multi_engine: MultiEngine
    auth: Auth | None = None


class Node(Section, frozen=True):
    host: Text


class Engine(Section, frozen=True):
    id: Text
    nodes: list[Node]
    termination_grace_period: str


class Logging(Section, frozen=True):
    format: Literal["json", "text"] = "json"
    level: Literal["debug", "info", "warning", "error"] = "info"


class Tls(Section, frozen=True):
    certificate_file: Text
    private_key_file: Text


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


def load_config(path: Path, *, node: int, release: Release = Release.EITHER) -> Config:
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, yaml.YAMLError) as err:
        raise ConfigError(f"{path}: {err}") from err
    try:
        config = read_strictly(content, Config)
        _check(config, node)
        _check_release(config, release)
    except ConfigError as err:
        raise ConfigError(f"{path}: {err}") from err
    return config


def _check_release(config: Config, release: Release) -> None:
    check_engine_id(config.instance.id, release)
    providers = config.instance.auth.providers if config.instance.auth else []
    for provider in providers if release is Release.OLD else []:
        for key in ("target", "exchange", "role_mapping"):
            if getattr(provider, key) is not None:
                raise ConfigError(f"instance.auth.oidc.providers: {provider.name} has the unknown key {key}")


def _check(config: Config, node: int) -> None:
    parse_duration(config.engine.termination_grace_period)
    if not 0 <= node < len(config.engine.nodes):
        raise ConfigError(f"--node {node}: engine.nodes has {len(config.engine.nodes)} entries")
    if config.endpoints is not None and len(config.endpoints.http.listeners) != 1:
        raise ConfigError("endpoints.http.listeners: exactly one is supported")
    host, _, port = config.instance.multi_engine.metadata_endpoint.rpartition(":")
    if not host or not port.isdecimal():
        raise ConfigError("instance.multi_engine.metadata_endpoint: want host:port")
    if config.instance.auth is not None:
        check_auth(config.instance.auth)
