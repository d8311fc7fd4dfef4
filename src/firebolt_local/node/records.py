"""What must another process know about a cluster with nodes, to work with it or to clean up after it?"""

import hashlib
from ipaddress import IPv4Network
from pathlib import Path

import msgspec

from firebolt_local.errors import LocalError
from firebolt_local.node.addresses import Addresses

_RECORD = "nodes.json"


class NodesRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Written before anything is made that would have to be removed."""

    cgroup: str
    host_link: str  # network device on the host, one end of the way into the cluster
    nodes: int
    block: str
    programs: dict[str, str]

    @property
    def addresses(self) -> Addresses:
        return Addresses(IPv4Network(self.block))


def unique_name(name: str, folder: Path) -> str:
    """Two clusters of one name may live in different folders."""
    return f"firebolt-local-{name}-{_digest(folder)}"


def link_name(folder: Path) -> str:
    """Names of network devices have 15 characters at most."""
    return f"fbl-{_digest(folder)}"


def write_record(folder: Path, record: NodesRecord) -> None:
    draft = folder / f"{_RECORD}.new"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(record)))
    draft.replace(folder / _RECORD)


def read_record(folder: Path) -> NodesRecord | None:
    try:
        return msgspec.json.decode((folder / _RECORD).read_bytes(), type=NodesRecord)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as err:
        raise LocalError(f"{folder / _RECORD} is damaged ({err}); end its programs, then remove {folder}") from err


def _digest(folder: Path) -> str:
    return hashlib.sha256(str(folder).encode()).hexdigest()[:8]
