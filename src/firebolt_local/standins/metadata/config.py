"""What does the metadata service accept as its configuration? One tree of known keys, written as XML or as YAML."""

from collections import Counter
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree as ET

import yaml

from firebolt_local.standins.releases import Release, check_account_id
from firebolt_local.standins.strict_files import ConfigError, Section, read_strictly

_ROOT: Final = "config"


class Keepalive(Section, frozen=True):
    enabled: int
    idle_sec: int
    interval_sec: int
    count: int


class PostgreSql(Section, frozen=True):
    host: str
    port: int
    database: str
    schema: str
    keepalive: Keepalive | None = None
    connect_timeout_sec: int = 5


class GarbageCollection(Section, frozen=True):
    enabled: bool
    interval_ms: int
    time_horizon_sec: int


class MetadataStorage(Section, frozen=True):
    postgresql: PostgreSql
    garbage_collection: GarbageCollection | None = None


class PensieveLite(Section, frozen=True):
    default_account_id: str
    host: str
    port: int
    metadata_storage: MetadataStorage
    server_threads: int = 0
    log_level: str = "information"


class _File(Section, frozen=True):
    pensieve_lite: PensieveLite


class _DuckServer(Section, frozen=True):
    host: str
    port: int
    database: str


class _DuckStorage(Section, frozen=True):
    postgresql: _DuckServer


class _Duck(Section, frozen=True):
    """The next generation: it knows neither accounts nor schemas."""

    host: str
    port: int
    metadata_storage: _DuckStorage


class _DuckFile(Section, frozen=True):
    pensieve_duck: _Duck


def load_config(path: Path, release: Release = Release.EITHER) -> PensieveLite:
    """The dialect goes by the file's name."""
    is_xml = path.suffix == ".xml"
    try:
        text = path.read_text(encoding="utf-8")
        if is_xml:
            config = read_strictly(_xml_tree(text), _File, numbers_as_text=True).pensieve_lite
        else:
            config = _from_yaml(yaml.safe_load(text), release)
        check_account_id(config.default_account_id, release)
    except (OSError, ET.ParseError, yaml.YAMLError, ConfigError) as err:
        raise ConfigError(f"{path}: {err}") from err
    return config


def _from_yaml(content: Any, release: Release) -> PensieveLite:
    if release is Release.OLD:
        raise ConfigError("this release reads XML only")
    if not isinstance(content, dict) or "pensieve_duck" not in content:
        return read_strictly(content, _File).pensieve_lite
    duck = read_strictly(content, _DuckFile).pensieve_duck
    server = duck.metadata_storage.postgresql
    storage = PostgreSql(host=server.host, port=server.port, database=server.database, schema="public")
    return PensieveLite(
        default_account_id="",
        host=duck.host,
        port=duck.port,
        metadata_storage=MetadataStorage(postgresql=storage),
    )


def _xml_tree(text: str) -> Any:
    root = ET.fromstring(text)
    if root.tag != _ROOT:
        raise ConfigError(f"unknown root element <{root.tag}>, want <{_ROOT}>")
    return _value(root)


def _value(element: ET.Element) -> Any:
    if element.attrib:
        raise ConfigError(f"<{element.tag}> has unknown attributes: {', '.join(element.attrib)}")
    if not len(element):
        return element.text or ""
    repeated = [tag for tag, count in Counter(child.tag for child in element).items() if count > 1]
    if repeated:
        raise ConfigError(f"<{element.tag}> has more than one <{repeated[0]}>")
    return {child.tag: _value(child) for child in element}
