"""Is a layer the same whenever its files are, and made only once?"""

import os
import tarfile
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.images.layers import Layer, LayerStore, LayerWriter


@pytest.fixture
def store(tmp_path: Path) -> LayerStore:
    return LayerStore(tmp_path / "store")


def _members(path: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(path) as archive:
        return {member.name: member for member in archive.getmembers()}


def test_given_the_same_files_at_another_time_and_place_then_the_layer_is_the_same(tmp_path: Path) -> None:
    first, second = (_layer_of(tmp_path / str(number), names) for number, names in enumerate((["b", "a"], ["a", "b"])))
    assert first.digest == second.digest


def _layer_of(place: Path, names: list[str]) -> Layer:
    source = place / "source"
    source.mkdir(parents=True)
    for name in names:
        (source / name).write_text(name)
        os.utime(source / name, (len(place.name), int(place.name)))
    return LayerStore(place / "store").layer(["key"], lambda writer: writer.tree("opt", source))


def test_folders_on_the_way_come_by_themselves_and_once(store: LayerStore) -> None:
    def fill(layer: LayerWriter) -> None:
        layer.folder("opt/app", mode=0o700, owner=7)
        layer.file("opt/app/one", b"1", owner=7)
        layer.file("/opt/app/two/three", b"3")
        layer.link("opt/latest", "app")

    members = _members(store.layer(["key"], fill).path)
    assert list(members) == ["opt", "opt/app", "opt/app/one", "opt/app/two", "opt/app/two/three", "opt/latest"]
    assert (members["opt/app"].mode, members["opt/app"].uid, members["opt/app/one"].uid) == (0o700, 7, 7)
    assert members["opt/latest"].linkname == "app"
    assert {member.mtime for member in members.values()} == {0}


def test_what_is_there_stays(store: LayerStore) -> None:
    def fill(layer: LayerWriter) -> None:
        layer.file("etc/passwd", b"first")
        layer.file("etc/passwd", b"second!")

    assert _members(store.layer(["key"], fill).path)["etc/passwd"].size == len(b"first")


def test_a_tree_keeps_links_and_what_can_be_run(store: LayerStore, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "bin").mkdir(parents=True)
    (source / "bin" / "run").write_text("#!")
    (source / "bin" / "run").chmod(0o700)
    (source / "bin" / "go").symlink_to("run")
    (source / "skipped").write_text("")
    layer = store.layer(["key"], lambda writer: writer.tree("opt", source, keep=lambda path: path.name != "skipped"))
    members = _members(layer.path)
    assert (members["opt/bin/run"].mode, members["opt/bin/go"].linkname) == (0o755, "run")
    assert "opt/skipped" not in members


def test_a_layer_is_made_once_for_each_key_and_each_maker(store: LayerStore) -> None:
    made: list[str] = []

    def fill(layer: LayerWriter) -> None:
        made.append("again")
        layer.file("one", b"1")

    first = store.layer(["a", "b"], fill)
    assert store.layer(["a", "b"], fill) == first
    assert len(made) == 1
    # Another key, even one whose words join to the same text, and another maker.
    store.layer(["ab"], fill)
    LayerStore(store.folder, made_by="another").layer(["a", "b"], fill)
    assert len(made) == 3


def test_given_a_layer_that_a_crash_cut_short_then_it_is_made_again(store: LayerStore) -> None:
    def fill(layer: LayerWriter) -> None:
        layer.file("one", b"1")

    layer = store.layer(["key"], fill)
    layer.path.write_bytes(b"")
    again = store.layer(["key"], fill)
    assert (again, again.path.stat().st_size) == (layer, layer.size)


def test_given_a_failure_half_way_then_nothing_is_left_and_nothing_is_remembered(store: LayerStore) -> None:
    def fail(layer: LayerWriter) -> None:
        layer.file("one", b"1")
        raise LocalError("no more")

    with pytest.raises(LocalError, match="no more"):
        store.layer(["key"], fail)
    assert [path for path in store.folder.rglob("*") if path.is_file()] == []


def test_what_only_other_versions_would_use_goes_after_a_while(store: LayerStore) -> None:
    def a_file(name: str) -> Callable[[LayerWriter], None]:
        return lambda layer: layer.file(name, b"1")

    other = LayerStore(store.folder, made_by="older")
    theirs, shared = other.layer(["theirs"], a_file("theirs")), other.layer(["shared"], a_file("shared"))
    ours = [store.layer(["ours"], a_file("ours")), store.layer(["another key"], a_file("shared"))]
    store.forget_other_makers(unused_for=timedelta(hours=1))
    assert theirs.path.exists()
    store.forget_other_makers(unused_for=timedelta(0))
    assert not theirs.path.exists()
    assert all(layer.path.exists() for layer in (*ours, shared))
