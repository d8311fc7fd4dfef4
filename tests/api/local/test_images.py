"""Do images come out of real packages, the same each time?"""

import tarfile
from pathlib import Path

import pytest

from firebolt_local.images import labels, operator_image, standin_images, system
from firebolt_local.images.archive import full_reference, image_references
from firebolt_local.images.catalogue import BUILDS, build_all
from firebolt_local.images.layers import LayerStore
from firebolt_local.images.stores import default_store
from firebolt_local.programs import provision

pytestmark = pytest.mark.slow


def test_given_the_same_packages_then_the_images_of_a_cluster_are_the_same_byte_for_byte(tmp_path: Path) -> None:
    # Any program will do here, and this one is built in seconds.
    program = provision.provide(["pause"])["pause"]
    given: dict[str, Path] = dict.fromkeys(provision.IN_IMAGES, program)
    first, second = (
        system.build_system_images(tmp_path / place, given, store=LayerStore(tmp_path / f"{place}-layers"))
        for place in ("one", "two")
    )
    assert [path.name for path in first] == [path.name for path in second]
    assert all(one.read_bytes() == two.read_bytes() for one, two in zip(first, second, strict=True))
    references = [reference for path in first for reference in image_references(path)]
    assert references == [system.PAUSE, system.COREDNS, system.PROVISIONER, system.HELPER]


def test_all_images_are_built_and_the_second_time_nothing_is_done(tmp_path: Path) -> None:
    said: list[str] = []
    archives = build_all(tmp_path, say=lambda text, _end: said.append(text))
    assert [path.relative_to(tmp_path).as_posix() for path in archives] == [build.archive for build in BUILDS]
    references = {reference for path in archives for reference in image_references(path)}
    wanted = (operator_image.REFERENCE, standin_images.ENGINE, standin_images.ENGINE_NEXT, standin_images.METADATA)
    assert {full_reference(reference) for reference in wanted} <= references
    before = [path.stat().st_ino for path in archives]
    assert [path.stat().st_ino for path in build_all(tmp_path)] == before
    assert all(any(build.archive in text for text in said) for build in BUILDS)


def test_the_operator_is_small_and_brings_its_byte_code() -> None:
    image = operator_image.operator_image(default_store())
    assert sum(layer.size for layer in image.layers) < 150 << 20
    names = {name for layer in image.layers for name in layer.names()}
    assert {"manager", "usr/bin/python3", "usr/lib/python3/dist-packages/firebolt_operator/gateway/drain.sh"} <= names
    sources = {name for name in names if name.endswith(".py")}
    compiled = {name for name in names if name.endswith(".pyc")}
    assert len(compiled) >= 0.95 * len(sources)
    assert not any("firebolt_local" in name for name in names)
    assert not any(name.startswith(("usr/bin/bash", "usr/bin/dpkg")) for name in names)


def test_stand_ins_carry_their_label_in_the_archive(tmp_path: Path) -> None:
    (archive,) = (path for path in build_all(tmp_path) if "standins" in path.parts)
    with tarfile.open(archive) as content:
        small = [member for member in content.getmembers() if member.size < 1 << 16]
        texts = [file.read() for member in small if (file := content.extractfile(member))]
    configs = [text for text in texts if b'"rootfs"' in text]
    assert len(configs) == 4
    assert all(labels.STAND_IN.encode() in config for config in configs)
