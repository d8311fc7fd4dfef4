"""Do images come out of real packages, the same each time?"""

import tarfile
from pathlib import Path

import pytest

from firebolt_local.images import labels, operator_image, standin_images, system
from firebolt_local.images.archive import full_reference, image_references, write_image
from firebolt_local.images.bill_of_materials import parts_of
from firebolt_local.images.catalogue import BUILDS, build_all, build_operator
from firebolt_local.images.layers import Layer, LayerStore
from firebolt_local.images.platforms import PLATFORMS, native
from firebolt_local.images.stores import default_store
from firebolt_local.programs import provision

pytestmark = pytest.mark.slow
ELF_MACHINES = {"amd64": 62, "arm64": 183}
MULTIARCH = ("aarch64-linux-gnu", "x86_64-linux-gnu") if native().architecture == "amd64" else ("x86_64", "aarch64")


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


def test_two_builds_of_the_operator_from_nothing_are_one_image(tmp_path: Path) -> None:
    digests = {
        build_operator(
            tmp_path / place,
            [native().architecture],
            operator_image.REFERENCE,
            say=lambda _text, _end: None,
            store=LayerStore(tmp_path / f"{place}-layers"),
        )
        for place in ("one", "two")
    }
    assert len(digests) == 1
    bills = [(tmp_path / place / f"operator-{native().architecture}.cdx.json").read_text() for place in ("one", "two")]
    assert bills[0] == bills[1]


def test_the_operator_is_built_for_machines_that_this_one_is_not(tmp_path: Path) -> None:
    (other,) = (each for each in PLATFORMS.values() if not each.is_native)
    own, foreign = (operator_image.operator_image(default_store(), each) for each in (native(), other))
    machines = {_machine(layer.path, ".so") for layer in foreign.layers} - {None}
    assert machines == {ELF_MACHINES[other.architecture]}
    assert len(foreign.layers) == len(own.layers)
    # What is Python alone, ours and its byte code, is the same on every machine.
    assert {layer.digest for layer in own.layers[-2:]} == {layer.digest for layer in foreign.layers[-2:]}
    assert _compiled(own.layers[2]) == {path.replace(*MULTIARCH) for path in _compiled(foreign.layers[2])}
    write_image(tmp_path / "both.tar", [own, foreign])
    assert image_references(tmp_path / "both.tar") == [operator_image.REFERENCE]
    names = [{part.name for part in parts_of(image)} for image in (own, foreign)]
    assert {"libc6", "libssl3", "python3", "aiohttp", "cryptography"} <= names[0]
    assert names[0] == names[1]


def _machine(layer: Path, suffix: str) -> int | None:
    """Of the first shared object in a layer, as its header says."""
    with tarfile.open(layer) as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() and suffix in member.name else None
            head = content.read(20) if content else b""
            if head.startswith(b"\x7fELF"):
                return int.from_bytes(head[18:20], "little")
    return None


def _compiled(layer: Layer) -> set[str]:
    return {name for name in layer.names() if name.endswith(".pyc")}


def test_stand_ins_carry_their_label_in_the_archive(tmp_path: Path) -> None:
    (archive,) = (path for path in build_all(tmp_path) if "standins" in path.parts)
    with tarfile.open(archive) as content:
        small = [member for member in content.getmembers() if member.size < 1 << 16]
        texts = [file.read() for member in small if (file := content.extractfile(member))]
    configs = [text for text in texts if b'"rootfs"' in text]
    assert len(configs) == 8
    assert all(labels.STAND_IN.encode() in config for config in configs)
