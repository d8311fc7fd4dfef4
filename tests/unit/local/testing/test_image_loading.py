"""Are images loaded when they are new or have changed, and only then?"""

from pathlib import Path

from firebolt_local.testing.image_loading import changed


def test_without_a_record_everything_is_new(tmp_path: Path) -> None:
    archive = tmp_path / "engine.tar"
    archive.write_text("layers")
    assert changed(tmp_path / "none.json", [archive]) == [archive]


def test_a_damaged_record_is_no_record(tmp_path: Path) -> None:
    archive, record = tmp_path / "engine.tar", tmp_path / "record.json"
    archive.write_text("layers")
    record.write_text('{"half')
    assert changed(record, [archive]) == [archive]


def test_only_what_was_written_again_is_loaded_again(tmp_path: Path) -> None:
    same, other, record = tmp_path / "same.tar", tmp_path / "other.tar", tmp_path / "record.json"
    for path in (same, other):
        path.write_text("layers")
    about = {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in (same, other)}
    record.write_text(str({name: list(identity) for name, identity in about.items()}).replace("'", '"'))
    assert changed(record, [same, other]) == []
    other.write_text("more layers")
    assert changed(record, [same, other]) == [other]
