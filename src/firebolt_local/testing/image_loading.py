"""Which images does the node lack? Loading takes a while, and most runs have changed none."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from firebolt_local.images.catalogue import Say, build_all
from firebolt_local.node.cluster import NodeCluster
from firebolt_local.programs.provision import cache_folder

_RECORD: Final = "demo-images.json"
Identity = tuple[int, int]  # size and time of the last change: an archive that would be the same is not written again


def build_and_load(cluster: NodeCluster, *, say: Say = lambda _text, _end: None) -> tuple[list[Path], list[Path]]:
    """Everything that the operator and its instances run; answers all archives, and those that were loaded now."""
    archives = build_all(cache_folder() / "images", say=say)
    return archives, load_changed(cluster, archives)


def load_changed(cluster: NodeCluster, archives: Sequence[Path]) -> list[Path]:
    """Answers those that were loaded. The record goes with the cluster, as the images do."""
    record = cluster.folder.path / _RECORD
    missing = changed(record, archives)
    cluster.load_images(missing)
    record.write_bytes(msgspec.json.encode({str(path): _identity(path) for path in archives}))
    return missing


def changed(record: Path, archives: Sequence[Path]) -> list[Path]:
    try:
        known = msgspec.json.decode(record.read_bytes(), type=dict[str, Identity])
    except (FileNotFoundError, msgspec.DecodeError):
        known = {}
    return [path for path in archives if known.get(str(path)) != _identity(path)]


def _identity(path: Path) -> Identity:
    about = path.stat()
    return about.st_size, about.st_mtime_ns
