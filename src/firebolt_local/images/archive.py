"""How do layers and settings become an archive that a container runtime imports?

An OCI archive: a tar with `oci-layout`, `index.json` and a folder of blobs named after their digests. Several images
may share one archive, and a layer that they share is in it once.
"""

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from firebolt_local.images.layers import Layer, copy_into
from firebolt_local.programs.recipes import go_architecture

_CONFIG: Final = "application/vnd.oci.image.config.v1+json"
_INDEX: Final = "application/vnd.oci.image.index.v1+json"
_LAYER: Final = "application/vnd.oci.image.layer.v1.tar"
_MANIFEST: Final = "application/vnd.oci.image.manifest.v1+json"
_NAME: Final = "io.containerd.image.name"
# What a container runtime reads into a short name; an imported image is found only under the long one.
_DEFAULT_REGISTRY: Final = "docker.io"
_DEFAULT_OWNER: Final = "library"


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    reference: str  # as people write it; see full_reference
    layers: Sequence[Layer]
    entrypoint: Sequence[str] = ()
    command: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    user: str = ""  # empty means root
    workdir: str = "/"
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    stop_signal: str = ""
    architecture: str = field(default_factory=go_architecture)


@dataclass(frozen=True, slots=True)
class _Blob:
    media_type: str
    content: bytes

    @property
    def digest(self) -> str:
        return f"sha256:{hashlib.sha256(self.content).hexdigest()}"

    def descriptor(self) -> dict[str, Any]:
        return {"mediaType": self.media_type, "digest": self.digest, "size": len(self.content)}


def write_archive(path: Path, images: Sequence[Image]) -> Path:
    """Leaves an archive alone that holds exactly these images already."""
    return _written(path, images, _index(images), ())


def write_image(path: Path, images: Sequence[Image]) -> str:
    """One image for several machines, as registries keep it; answers its digest."""
    parts = [_manifest(image, _config(image)).descriptor() | {"platform": _platform(image)} for image in images]
    joint = _Blob(_INDEX, _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": parts}))
    entry = joint.descriptor() | {"annotations": {_NAME: full_reference(images[0].reference)}}
    _written(path, images, _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": [entry]}), (joint,))
    return joint.digest


def image_digest(image: Image) -> str:
    """Of its manifest, which is what a registry calls it by."""
    return _manifest(image, _config(image)).digest


def _platform(image: Image) -> dict[str, str]:
    return {"architecture": image.architecture, "os": "linux"}


def _written(path: Path, images: Sequence[Image], index: bytes, more: Sequence[_Blob]) -> Path:
    if _index_of(path) == index:
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with tarfile.open(draft, "w", format=tarfile.GNU_FORMAT) as archive:
            _fill(archive, [*more, *_blobs(images)], index)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def full_reference(reference: str) -> str:
    """`postgres:16` is short for a name with a host and an owner."""
    first, slash, _ = reference.partition("/")
    if not slash:
        return f"{_DEFAULT_REGISTRY}/{_DEFAULT_OWNER}/{reference}"
    has_host = first == "localhost" or "." in first or ":" in first
    return reference if has_host else f"{_DEFAULT_REGISTRY}/{reference}"


def image_references(path: Path) -> list[str]:
    """The full names of the images in an archive."""
    index = json.loads(_index_of(path) or b'{"manifests": []}')
    return [entry["annotations"][_NAME] for entry in index["manifests"]]


def _fill(archive: tarfile.TarFile, blobs: Sequence[_Blob | Layer], index: bytes) -> None:
    # The index comes first: whoever only wants to know what is in here reads one block.
    _add(archive, "index.json", index)
    _add(archive, "oci-layout", b'{"imageLayoutVersion": "1.0.0"}')
    written: set[str] = set()
    for blob in blobs:
        if blob.digest in written:
            continue
        written.add(blob.digest)
        name = f"blobs/{blob.digest.replace(':', '/')}"
        if isinstance(blob, Layer):
            copy_into(archive, name, blob.path)
        else:
            _add(archive, name, blob.content)


def _blobs(images: Sequence[Image]) -> Iterator[_Blob | Layer]:
    for image in images:
        config = _config(image)
        yield config
        yield _manifest(image, config)
        yield from image.layers


def _index(images: Sequence[Image]) -> bytes:
    manifests = [
        {**_manifest(image, _config(image)).descriptor(), "annotations": {_NAME: full_reference(image.reference)}}
        for image in images
    ]
    return _json({"schemaVersion": 2, "mediaType": _INDEX, "manifests": manifests})


def _manifest(image: Image, config: _Blob) -> _Blob:
    layers = [{"mediaType": _LAYER, "digest": layer.digest, "size": layer.size} for layer in image.layers]
    manifest = {"schemaVersion": 2, "mediaType": _MANIFEST, "config": config.descriptor(), "layers": layers}
    return _Blob(_MANIFEST, _json(manifest))


def _config(image: Image) -> _Blob:
    settings = {
        "Entrypoint": list(image.entrypoint),
        "Cmd": list(image.command),
        "Env": [f"{name}={value}" for name, value in sorted(image.environment.items())],
        "User": image.user,
        "WorkingDir": image.workdir,
        "Labels": dict(sorted(image.labels.items())),
        "StopSignal": image.stop_signal,
    }
    config = {
        "architecture": image.architecture,
        "os": "linux",
        "config": {name: value for name, value in settings.items() if value},
        "rootfs": {"type": "layers", "diff_ids": [layer.digest for layer in image.layers]},
    }
    return _Blob(_CONFIG, _json(config))


def _index_of(path: Path) -> bytes | None:
    if not path.is_file():
        return None
    try:
        with tarfile.open(path) as archive:
            index = archive.extractfile("index.json")
            return index.read() if index else None
    except (tarfile.TarError, KeyError):
        return None


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(content)
    archive.addfile(info, io.BytesIO(content))


def _json(content: dict[str, Any]) -> bytes:
    return json.dumps(content, indent=1).encode()
