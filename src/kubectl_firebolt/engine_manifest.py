"""What does the engine look like that `engine create` asks for? Only what was given is in it."""

from dataclasses import dataclass
from typing import Any, Final

from kubectl_firebolt import names
from kubectl_firebolt.manifest import Manifest, spec_of

DEFAULT_STORAGE: Final = "s3"
_BUCKET_KEY: Final = "managed_table_bucket_name"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    name: str
    instance: str
    namespace: str = ""
    replicas: int = 1
    engine_class: str = ""
    image: str = ""
    bucket: str = ""
    storage_type: str = DEFAULT_STORAGE
    host_path: str = ""


def engine_manifest(wanted: Wanted) -> Manifest:
    """No placement: an engine's affinity replaces its class's, which may be what keeps its nodes where they belong."""
    storage = {_BUCKET_KEY: wanted.bucket, "managed_table_storage": wanted.storage_type}
    spec = {
        "instanceRef": wanted.instance,
        "engineClassRef": wanted.engine_class or None,
        "replicas": wanted.replicas,
        "template": _template(wanted.image),
        "customEngineConfig": {"storage": storage} if wanted.bucket else None,
        "storage": _storage(wanted.host_path),
    }
    manifest = {
        "apiVersion": f"{names.GROUP}/{names.VERSION}",
        "kind": "FireboltEngine",
        "metadata": {"name": wanted.name, "namespace": wanted.namespace or None},
        "spec": spec,
    }
    pruned: Manifest = _pruned(manifest)
    return pruned


def has_bucket(engine_class: Manifest) -> bool:
    config = spec_of(engine_class).get("customEngineConfig") or {}
    return bool((config.get("storage") or {}).get(_BUCKET_KEY))


def _template(image: str) -> Manifest | None:
    return {"spec": {"containers": [{"name": names.CONTAINER_ENGINE, "image": image}]}} if image else None


def _storage(host_path: str) -> Manifest | None:
    return {"hostPath": {"path": host_path, "type": "DirectoryOrCreate"}} if host_path else None


def _pruned(value: Any) -> Any:
    """Without nulls and empty maps, at any depth; zeros, empty strings and empty lists were meant."""
    if isinstance(value, dict):
        kept = {key: _pruned(each) for key, each in value.items()}
        return {key: each for key, each in kept.items() if each is not None and each != {}}
    if isinstance(value, list):
        return [_pruned(each) for each in value]
    return value
