"""What the metadata service reads when it starts: one tree of keys, written as XML or as YAML.

The next generation of the service has a small tree of its own, in YAML.
"""

from dataclasses import dataclass
from typing import Any, Final
from xml.sax.saxutils import escape

import yaml

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.instance.database_login import DATABASE
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import check_writable
from firebolt_operator.refs import Manifest

SCHEMA: Final = "public"


class Quoted(str):
    """A string that a person chose: always quoted, so that no value can turn into a key or another type."""

    __slots__ = ()


class _Dumper(yaml.SafeDumper):
    pass


def _represent_quoted(dumper: yaml.SafeDumper, value: Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style='"')


_Dumper.add_representer(Quoted, _represent_quoted)


@dataclass(frozen=True, slots=True)
class ConfigFile:
    name: str  # in the ConfigMap and on disk
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """Where the metadata service finds its database."""

    host: str
    port: int
    database: str
    schema: str


def database_server(instance: FireboltInstance) -> Server:
    postgres = instance.spec.metadata.postgres
    if postgres is None:
        host = f"{names.postgres_name(instance.metadata.name)}.{instance.metadata.namespace}.svc.cluster.local"
        return Server(host=host, port=names.PORT_POSTGRES, database=DATABASE, schema=SCHEMA)
    return Server(
        host=postgres.host,
        port=postgres.port or names.PORT_POSTGRES,
        database=postgres.database,
        schema=postgres.schema or SCHEMA,
    )


def metadata_config(instance: FireboltInstance) -> ConfigFile:
    tree = config_tree(instance)
    if instance.spec.metadata_ng or instance.spec.metadata.config_format == "YAML":
        text = yaml.dump(tree, Dumper=_Dumper, sort_keys=False, width=float("inf"), allow_unicode=True)
        return ConfigFile("config.yaml", text)
    return ConfigFile("config.xml", "\n".join(_xml_lines("config", tree, indent="")) + "\n")


def config_problem(instance: FireboltInstance) -> str | None:
    """Why the configuration cannot be written."""
    return aggregate(check_writable(instance.spec)) or None


def config_tree(instance: FireboltInstance) -> Manifest:
    server = database_server(instance)
    postgresql: Manifest = {"host": Quoted(server.host), "port": server.port, "database": Quoted(server.database)}
    listener: Manifest = {"host": "0.0.0.0", "port": names.PORT_METADATA}  # noqa: S104 - inside a pod, behind its Service
    if instance.spec.metadata_ng:
        # It refuses to start on any key more: it knows no accounts, and instances are told apart by their databases.
        return {"pensieve_duck": {**listener, "metadata_storage": {"postgresql": postgresql}}}
    return {
        "pensieve_lite": {
            "default_account_id": Quoted(instance.spec.id),
            **listener,
            "server_threads": 0,
            "log_level": "information",
            "metadata_storage": {
                "postgresql": {
                    **postgresql,
                    "schema": Quoted(server.schema),
                    "keepalive": {"enabled": 1, "idle_sec": 120, "interval_sec": 30, "count": 5},
                    "connect_timeout_sec": 5,
                },
                # The server ignores other spellings without a word and collects every minute what is an hour old.
                "garbage_collection": {"enabled": True, "interval_ms": 3_600_000, "time_horizon_sec": 86_400},
            },
        }
    }


def _xml_lines(tag: str, value: Any, *, indent: str) -> list[str]:
    if not isinstance(value, dict):
        return [f"{indent}<{tag}>{_xml_text(value)}</{tag}>"]
    inner = [line for key, each in value.items() for line in _xml_lines(key, each, indent=indent + "  ")]
    return [f"{indent}<{tag}>", *inner, f"{indent}</{tag}>"]


def _xml_text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    # A reader turns a bare carriage return into a newline.
    return escape(str(value), {"\r": "&#13;"})
