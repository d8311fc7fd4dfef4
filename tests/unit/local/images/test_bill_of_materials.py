"""A bill of materials names what the layers carry, and an image for several machines is one with a digest."""

import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from firebolt_local.images.archive import Image, image_digest, image_references, write_image
from firebolt_local.images.bill_of_materials import DEBIAN, bill_of_materials, parts_of
from firebolt_local.images.layers import LayerStore, LayerWriter

CONTROL = b"Package: libstdc++6\nVersion: 12.2.0-14+deb12u1\nArchitecture: arm64\nDescription: long\n and longer\n"
METADATA = b"Metadata-Version: 2.4\nName: Some_Thing\nVersion: 1.2\nLicense-Expression: MIT\n\nText: not a header\n"
NAME = "registry.example/data/op:v1"


@pytest.fixture
def image(tmp_path: Path) -> Image:
    def fill(layer: LayerWriter) -> None:
        layer.file(f"{DEBIAN}libstdc++6", CONTROL)
        layer.file("usr/lib/python3/dist-packages/some_thing-1.2.dist-info/METADATA", METADATA)
        layer.file("usr/share/doc/x/METADATA", b"nothing of a package")

    return Image(reference=NAME, layers=[LayerStore(tmp_path).layer(("x",), fill)], architecture="arm64")


def test_packages_are_found_where_they_speak_of_themselves(image: Image) -> None:
    found = [(part.name, part.version, part.url, part.licence) for part in parts_of(image)]
    assert found == [
        ("Some_Thing", "1.2", "pkg:pypi/some-thing@1.2", "MIT"),
        ("libstdc++6", "12.2.0-14+deb12u1", "pkg:deb/debian/libstdc%2B%2B6@12.2.0-14%2Bdeb12u1?arch=arm64", ""),
    ]


def test_the_bill_is_of_that_image_and_always_the_same(image: Image) -> None:
    digest = image_digest(image)
    bill = json.loads(bill_of_materials(image, digest))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["name"] == "registry.example/data/op"
    assert digest.endswith(bill["metadata"]["component"]["hashes"][0]["content"])
    assert len(bill["components"]) == 2
    assert bill_of_materials(image, digest) == bill_of_materials(image, digest)
    assert json.loads(bill_of_materials(image, "sha256:other"))["serialNumber"] != bill["serialNumber"]


def test_an_image_for_two_machines_is_one_with_an_index_that_names_both(image: Image, tmp_path: Path) -> None:
    other = Image(reference=NAME, layers=image.layers, architecture="amd64")
    digest = write_image(tmp_path / "both.tar", [other, image])
    assert image_references(tmp_path / "both.tar") == [NAME]
    with tarfile.open(tmp_path / "both.tar") as archive:
        blobs = {name: archive.extractfile(name) for name in archive.getnames() if name.startswith("blobs/")}
        contents = {name: blob.read() for name, blob in blobs.items() if blob}
    assert all(name.endswith(hashlib.sha256(content).hexdigest()) for name, content in contents.items())
    joint = json.loads(contents[f"blobs/{digest.replace(':', '/')}"])
    assert [each["platform"]["architecture"] for each in joint["manifests"]] == ["amd64", "arm64"]
    assert [each["digest"] for each in joint["manifests"]] == [image_digest(other), image_digest(image)]
    for each in joint["manifests"]:
        manifest = json.loads(contents[f"blobs/{each['digest'].replace(':', '/')}"])
        config = json.loads(contents[f"blobs/{manifest['config']['digest'].replace(':', '/')}"])
        assert config["architecture"] == each["platform"]["architecture"]
