"""An object as kubectl prints it."""

from typing import Any

Manifest = dict[str, Any]


def name_of(manifest: Manifest) -> str:
    return str(manifest["metadata"]["name"])


def namespace_of(manifest: Manifest) -> str:
    """Empty for what belongs to none."""
    return str(manifest["metadata"].get("namespace", ""))


def spec_of(manifest: Manifest) -> Manifest:
    return manifest.get("spec") or {}


def status_of(manifest: Manifest) -> Manifest:
    return manifest.get("status") or {}


def labels_of(manifest: Manifest) -> dict[str, str]:
    return manifest["metadata"].get("labels") or {}


def condition_of(manifest: Manifest, kind: str) -> Manifest | None:
    conditions: list[Manifest] = status_of(manifest).get("conditions") or []
    return next((each for each in conditions if each.get("type") == kind), None)


def is_true(condition: Manifest | None) -> bool:
    return condition is not None and condition.get("status") == "True"


def is_deleting(manifest: Manifest) -> bool:
    return bool(manifest["metadata"].get("deletionTimestamp"))
