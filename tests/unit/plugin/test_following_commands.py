"""Do status and record show what kubectl tells, and end when they should?"""

import json
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from tests.support.plugin import a_resting_status, an_engine, asked
from tests.unit.plugin.conftest import Played
from tests.unit.plugin.explained import a_pod, an_unready_engine, stalled
from tests.unit.plugin.test_rollout import a_statefulset


def told(folder: Path, name: str, *events: tuple[str, Manifest]) -> str:
    """A command that prints them as a watch does, and then waits."""
    place = folder / name
    place.write_text("\n".join(json.dumps({"type": kind, "object": each}, indent=4) for kind, each in events))
    return f"cat {place}; exec sleep 600"


def with_uid(manifest: Manifest) -> Manifest:
    return manifest | {"metadata": manifest["metadata"] | {"uid": f"uid-{manifest['metadata']['name']}"}}


ROLLING = an_unready_engine("Rolling", "Engine is in creating phase", currentGeneration=1)
ARRIVED = an_engine(status=a_resting_status(currentGeneration=1, activeGeneration=1, readyReplicas=0))
CHILDREN = [with_uid(a_statefulset(0)), with_uid(a_statefulset(1)), with_uid(a_pod(is_ready=True))]


def a_cluster(folder: Path, first: Manifest | None, *later: tuple[str, Manifest]) -> list[tuple[str, str]]:
    (folder / "engine.json").write_text(json.dumps(first) if first else "")
    (folder / "children.json").write_text(json.dumps({"items": CHILDREN}))
    pods = [("ADDED", each) for each in CHILDREN if each["kind"] == "Pod"]
    return [
        ("get fireboltengine --field-selector", told(folder, "engine-events", *later)),
        ("get statefulset -l", told(folder, "sets", *[("ADDED", each) for each in CHILDREN[:2]])),
        ("get pod -l", told(folder, "pods", *pods)),
        ("get fireboltengine", f"cat {folder}/engine.json; exit 0"),
        ("get statefulsets,pods", f"cat {folder}/children.json; exit 0"),
    ]


def test_status_ends_when_the_engine_has_arrived(played: Played, tmp_path: Path) -> None:
    shown = played(*a_cluster(tmp_path, ROLLING, ("MODIFIED", ARRIVED))).says("status", "e1")
    lines = [line.partition(" s  ")[2] for line in shown.splitlines()]
    assert lines == [
        "creating   g1 starting 0/2, g0 serving 1/2  Engine is in creating phase",
        "stable     g1 serving 0/2, g0 leaving 1/2  Engine is serving traffic on generation 0",
    ]


def test_status_once_asks_for_no_watch(played: Played, tmp_path: Path) -> None:
    plugin = played(*a_cluster(tmp_path, ROLLING))
    shown = plugin.says("status", "e1", "--once")
    assert shown.startswith("e1  not ready (Rolling), phase creating")
    assert not any("--watch" in line for line in asked(plugin.kubectl))


def test_status_of_an_engine_that_needs_a_person(played: Played, tmp_path: Path) -> None:
    stuck = an_unready_engine("Rolling", conditions=[stalled("SpecInvalid")])
    done = played(*a_cluster(tmp_path, stuck)).run("status", "e1")
    assert (done.code, done.stderr) == (1, "error: e1 needs a person: kubectl firebolt explain e1\n")


def test_status_of_an_engine_that_is_deleted_or_never_was(played: Played, tmp_path: Path) -> None:
    done = played(*a_cluster(tmp_path, ROLLING, ("DELETED", ROLLING))).run("status", "e1")
    assert (done.code, done.stderr) == (1, 'error: engine "e1" was deleted\n')
    missing = played(*a_cluster(tmp_path, None)).refuses("status", "e1")
    assert missing == 'engine "e1" is not there; kubectl firebolt engine list shows those that are'


def test_status_without_rights_says_what_kubectl_says(played: Played, tmp_path: Path) -> None:
    rules = a_cluster(tmp_path, ROLLING)
    rules[2] = ("get pod -l", "echo 'pods is forbidden' >&2; exit 1")
    assert "pods is forbidden" in played(*rules).run("status", "e1").stderr


@pytest.mark.parametrize("flags", [("--until-settled",), ("--for", "3s")])
def test_a_recording_becomes_a_page(played: Played, tmp_path: Path, flags: tuple[str, ...]) -> None:
    page = tmp_path / "e1.html"
    rules = a_cluster(tmp_path, None, ("ADDED", ROLLING), ("MODIFIED", ARRIVED))
    shown = played(*rules).says("record", "e1", "--page", str(page), *flags)
    assert shown.startswith(f"recording e1; Ctrl+C ends it and writes {page}\n")
    assert shown.endswith(f"the picture of it: {page}\n")
    text = page.read_text()
    assert "kubectl firebolt record" in text
    assert "The engine went from creating to stable, with 1 changes of its phase on the way." in text
    assert "since the recording began" in text
    assert "<dt>recorded</dt>" in text


def test_a_recording_does_not_take_pods_that_are_told_late_for_a_rollout(played: Played, tmp_path: Path) -> None:
    page = tmp_path / "e1.html"
    resting = an_engine(status=a_resting_status(readyReplicas=1))
    rules = a_cluster(tmp_path, None, ("ADDED", resting))
    rolled = told(tmp_path, "rolled", ("MODIFIED", ROLLING), ("MODIFIED", ARRIVED))
    rules[0] = (rules[0][0], f"cat {tmp_path}/engine-events; sleep 2; {rolled}")
    rules[2] = (rules[2][0], f"sleep 1; {rules[2][1]}")
    played(*rules).says("record", "e1", "--page", str(page), "--until-settled")
    assert "The engine went from stable to stable, with 2 changes of its phase on the way." in page.read_text()
