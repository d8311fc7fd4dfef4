"""Is an archive what a container runtime expects?"""

import hashlib
import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.images.archive import Image, full_reference, image_references, write_archive
from firebolt_local.images.layers import Layer, LayerStore
from firebolt_local.programs.recipes import go_architecture


@pytest.fixture
def layer(tmp_path: Path) -> Layer:
    return LayerStore(tmp_path / "store").layer(["key"], lambda writer: writer.file("hello", b"world"))


def _content(path: Path) -> dict[str, bytes]:
    with tarfile.open(path) as archive:
        found = {member.name: archive.extractfile(member) for member in archive.getmembers()}
        return {name: file.read() for name, file in found.items() if file}


def _blob(content: dict[str, bytes], descriptor: dict[str, Any]) -> bytes:
    blob = content[f"blobs/{descriptor['digest'].replace(':', '/')}"]
    assert (f"sha256:{hashlib.sha256(blob).hexdigest()}", len(blob)) == (descriptor["digest"], descriptor["size"])
    return blob


def test_from_the_index_everything_is_found_by_its_digest(tmp_path: Path, layer: Layer) -> None:
    image = Image(
        reference="postgres:16",
        layers=[layer],
        entrypoint=["/start"],
        command=["serve"],
        environment={"B": "2", "A": "1"},
        user="70:70",
        labels={"x": "y"},
        stop_signal="SIGINT",
    )
    content = _content(write_archive(tmp_path / "image.tar", [image]))
    assert json.loads(content["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    (entry,) = json.loads(content["index.json"])["manifests"]
    assert entry["annotations"] == {"io.containerd.image.name": "docker.io/library/postgres:16"}
    manifest = json.loads(_blob(content, entry))
    (described,) = manifest["layers"]
    assert described["mediaType"] == "application/vnd.oci.image.layer.v1.tar"
    assert _blob(content, described) == layer.path.read_bytes()
    config = json.loads(_blob(content, manifest["config"]))
    assert config == {
        "architecture": go_architecture(),
        "os": "linux",
        "config": {
            "Entrypoint": ["/start"],
            "Cmd": ["serve"],
            "Env": ["A=1", "B=2"],
            "User": "70:70",
            "WorkingDir": "/",
            "Labels": {"x": "y"},
            "StopSignal": "SIGINT",
        },
        # An uncompressed layer is its own content.
        "rootfs": {"type": "layers", "diff_ids": [layer.digest]},
    }


def test_images_of_one_archive_share_their_layers(tmp_path: Path, layer: Layer) -> None:
    images = [Image(reference=f"localhost/x:{tag}", layers=[layer], labels={"v": str(tag)}) for tag in (1, 2)]
    path = write_archive(tmp_path / "images.tar", images)
    with tarfile.open(path) as archive:
        names = archive.getnames()
    assert len(names) == len(set(names)) == 2 + 2 * 2 + 1
    assert image_references(path) == ["localhost/x:1", "localhost/x:2"]


def test_given_the_same_images_then_the_archive_is_left_alone(tmp_path: Path, layer: Layer) -> None:
    image = Image(reference="localhost/x:1", layers=[layer])
    path = write_archive(tmp_path / "image.tar", [image])
    before = (path.stat().st_ino, path.read_bytes())
    write_archive(path, [image])
    assert (path.stat().st_ino, path.read_bytes()) == before
    write_archive(path, [Image(reference="localhost/x:2", layers=[layer])])
    assert image_references(path) == ["localhost/x:2"]


@pytest.mark.parametrize("content", [b"", b"not a tar", b"x" * 20_000])
def test_given_something_else_in_its_place_then_it_is_replaced(tmp_path: Path, layer: Layer, content: bytes) -> None:
    path = tmp_path / "image.tar"
    path.write_bytes(content)
    write_archive(path, [Image(reference="localhost/x:1", layers=[layer])])
    assert image_references(path) == ["localhost/x:1"]


@pytest.mark.parametrize(
    ("short", "full"),
    [
        ("postgres:16", "docker.io/library/postgres:16"),
        ("envoyproxy/envoy:v1", "docker.io/envoyproxy/envoy:v1"),
        ("localhost/pause:1", "localhost/pause:1"),
        ("example.org/x:1", "example.org/x:1"),
        ("registry:5000/x:1", "registry:5000/x:1"),
    ],
)
def test_short_references_are_spelt_out(short: str, full: str) -> None:
    assert full_reference(short) == full
