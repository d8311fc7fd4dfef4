"""Does a recording say when each phase, generation and pod began and ended?"""

from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.picture.recorder import Recorder
from kubectl_firebolt.picture.recording import (
    GenerationSpan,
    Note,
    PhaseSpan,
    PodSpan,
    Recording,
    Serving,
    Step,
    Told,
)

TOLD = Told(kicker="test", began="noon", since="then", story="nothing happened.")


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Scene:
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.recorder = Recorder("analytics", self.clock)

    def at(self, now: float) -> Recorder:
        self.clock.now = now
        return self.recorder

    def recording(self, now: float) -> Recording:
        return self.at(now).recording(TOLD, [])


@pytest.fixture
def scene() -> Scene:
    return Scene()


def an_engine(phase: str, active: int, *, name: str = "analytics") -> Manifest:
    status = {"phase": phase, "activeGeneration": active, "currentGeneration": max(active, 0)}
    return {"metadata": {"name": name, "uid": "e"}, "spec": {"instanceRef": "demo", "replicas": 1}, "status": status}


def a_statefulset(number: int, *, engine: str = "analytics") -> Manifest:
    labels = {"firebolt.io/engine": engine, "firebolt.io/generation": str(number)}
    containers = [{"name": "side", "image": "side:1"}, {"name": "engine", "image": "engine:1"}]
    return {
        "metadata": {"name": f"{engine}-g{number}", "uid": f"{engine}{number}", "labels": labels},
        "spec": {"replicas": 2, "template": {"spec": {"containers": containers}}},
    }


def a_pod(name: str, *, generation: int | None = None, is_ready: bool = False, is_ending: bool = False) -> Manifest:
    labels = {} if generation is None else {"firebolt.io/generation": str(generation)}
    ending = {"deletionTimestamp": "2026-01-01T00:00:00Z"} if is_ending else {}
    conditions = [{"type": "Ready", "status": "True" if is_ready else "False"}]
    return {"metadata": {"name": name, "uid": name, "labels": labels, **ending}, "status": {"conditions": conditions}}


def test_phases_follow_one_another_and_the_last_lasts_until_now(scene: Scene) -> None:
    for at, phase in ((1, ""), (2, "creating"), (3, "creating"), (5, "stable")):
        scene.at(at).engine("MODIFIED", an_engine(phase, -1))
    assert scene.recording(9).phases == [
        PhaseSpan(phase="creating", began_at=2, ended_at=5),
        PhaseSpan(phase="stable", began_at=5, ended_at=9),
    ]


def test_queries_go_to_one_generation_after_the_other(scene: Scene) -> None:
    for at, active in ((1, -1), (2, 0), (6, 1)):
        scene.at(at).engine("MODIFIED", an_engine("stable", active))
    assert scene.recording(9).serving == [
        Serving(generation=0, began_at=2, ended_at=6),
        Serving(generation=1, began_at=6, ended_at=9),
    ]


def test_other_engines_are_none_of_its_business(scene: Scene) -> None:
    scene.at(1).engine("ADDED", an_engine("stable", 0, name="other"))
    scene.at(1).statefulset("ADDED", a_statefulset(0, engine="other"))
    assert (scene.recording(2).phases, scene.recording(2).generations) == ([], [])


def test_a_generation_is_known_by_its_statefulset(scene: Scene) -> None:
    scene.at(1).statefulset("ADDED", a_statefulset(0))
    scene.at(2).statefulset("ADDED", a_statefulset(1))
    scene.at(3).statefulset("DELETED", a_statefulset(0))
    assert scene.recording(4).generations == [
        GenerationSpan(number=0, replicas=2, image="engine:1", began_at=1, ended_at=3),
        GenerationSpan(number=1, replicas=2, image="engine:1", began_at=2),
    ]


def test_the_life_of_a_pod(scene: Scene) -> None:
    name = "analytics-g0-0"
    scene.at(1).pod("ADDED", a_pod(name, generation=0))
    scene.at(2).pod("MODIFIED", a_pod(name, generation=0, is_ready=True))
    scene.at(3).pod("MODIFIED", a_pod(name, generation=0, is_ready=True))
    scene.at(4).pod("MODIFIED", a_pod(name, generation=0, is_ending=True))
    scene.at(5).pod("DELETED", a_pod(name, generation=0, is_ending=True))
    scene.at(6).pod("ADDED", a_pod("demo-gateway"))
    assert scene.recording(7).pods == [
        PodSpan(name="demo-gateway", generation=None, began_at=6),
        PodSpan(name=name, generation=0, began_at=1, ready_at=2, ending_at=4, ended_at=5),
    ]


def test_what_is_ending_when_first_seen_belongs_to_an_earlier_story(scene: Scene) -> None:
    scene.at(1).pod("MODIFIED", a_pod("analytics-g9-0", generation=9, is_ending=True))
    scene.at(2).pod("DELETED", a_pod("analytics-g9-1", generation=9))
    scene.at(2).statefulset("DELETED", a_statefulset(9))
    assert (scene.recording(3).pods, scene.recording(3).generations, scene.recording(3).notes) == ([], [], [])


def test_steps_and_notes_are_told_when_they_happen(scene: Scene) -> None:
    with scene.at(1).step("scale", "Three nodes") as step:
        scene.at(3).note("switched")
        step.outcome = "Done"
        scene.at(4)
    recording = scene.recording(5)
    assert recording.steps == [Step(name="scale", title="Three nodes", began_at=1, ended_at=4, outcome="Done")]
    assert recording.notes == [Note(at=3, text="switched")]


def test_a_step_that_fails_is_kept_all_the_same(scene: Scene) -> None:
    with suppress(TimeoutError), scene.at(1).step("scale", "Three nodes"):
        scene.at(2)
        raise TimeoutError
    assert [step.ended_at for step in scene.recording(5).steps] == [2]
