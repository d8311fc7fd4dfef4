"""Does the picture of a rollout show what is there?"""

import io

import pytest
from rich.console import Console

from firebolt_operator.refs import Manifest
from kubectl_firebolt.explain.seen import Kind, Seen
from kubectl_firebolt.status.decide.rollout import Arrival, Role, Rollout, rollout
from kubectl_firebolt.status.view import line, view
from tests.support.plugin import a_condition, a_resting_status, an_engine
from tests.unit.plugin.explained import NOW, a_container, a_pod, an_unready_engine, leaving, stalled

PULLING = a_container(state={"waiting": {"reason": "ImagePullBackOff", "message": "Back-off"}})
PICTURE = """\
e1  not ready (Rolling), phase creating; generation 0 serves with 1 of 1 pods ready, generation 1 is
on its way
Engine is in creating phase

● creating ── ○ switching ── ○ draining ── ○ cleaning ── ○ stable

GENERATION   ROLE       READY                          IMAGE
g1           starting   0/2                            engine:2
g0           serving    1/2     ━━━━━━━━━━             engine:1

POD       STATE                                          AGE
e1-g0-0   ready
e1-g1-0   container engine: ImagePullBackOff: Back-off   30s

next: It waits until all 2 pods of generation 1 are ready, then sends queries there. Generation 0
goes on serving.
"""


def a_statefulset(number: int) -> Manifest:
    labels = {"firebolt.io/engine": "e1", "firebolt.io/generation": str(number)}
    template = {"spec": {"containers": [{"name": "engine", "image": f"engine:{number + 1}"}]}}
    metadata = {"name": f"e1-g{number}", "namespace": "ns", "labels": labels}
    return {"kind": "StatefulSet", "metadata": metadata, "spec": {"replicas": 2, "template": template}}


def seen(engine: Manifest | None, *children: Manifest) -> Rollout:
    return rollout(Seen(kind=Kind.ENGINE, name="e1", now=NOW, subject=engine, children=children))


def a_rollout() -> Rollout:
    engine = an_unready_engine("Rolling", "Engine is in creating phase", currentGeneration=1)
    starting = a_pod("e1-g1-0", generation=1, containerStatuses=[PULLING])
    starting["metadata"]["creationTimestamp"] = "2026-05-01T11:59:30Z"
    return seen(engine, a_statefulset(0), a_statefulset(1), a_pod(is_ready=True), starting)


def drawn(shown: Rollout) -> str:
    page = io.StringIO()
    Console(file=page, width=100).print(view(shown), highlight=False)
    return "".join(f"{text.rstrip()}\n" for text in page.getvalue().splitlines())


def test_a_rollout_on_its_way() -> None:
    assert drawn(a_rollout()) == PICTURE
    assert line(a_rollout()) == "creating   g1 starting 0/2, g0 serving 1/2  Engine is in creating phase"


def test_a_terminal_can_show_it_in_colour() -> None:
    console = Console(file=io.StringIO(), width=100, record=True, force_terminal=True)
    console.print(view(a_rollout()))
    assert "ImagePullBackOff" in console.export_svg()


@pytest.mark.parametrize(
    ("number", "fields", "role"),
    [
        (0, {"activeGeneration": 0, "currentGeneration": 1}, Role.SERVING),
        (1, {"activeGeneration": 0, "currentGeneration": 1}, Role.STARTING),
        (0, {"activeGeneration": 1, "currentGeneration": 1, "drainingGeneration": 0}, Role.DRAINING),
        (0, {"activeGeneration": 2, "currentGeneration": 2}, Role.LEAVING),
    ],
)
def test_what_a_generation_is_for(number: int, fields: Manifest, role: Role) -> None:
    shown = seen(an_engine(status=a_resting_status(**fields)), a_statefulset(number))
    assert [each.role for each in shown.generations] == [role]


def test_what_is_deleted_leaves() -> None:
    shown = seen(an_engine(), leaving(a_statefulset(0)), leaving(a_pod(is_ready=True)))
    assert (shown.generations[0].role, shown.pods[0].state) == (Role.LEAVING, "ending")


STOPPED = a_condition("Ready", "False", "Stopped", "Engine is stopped")
RECONCILING = a_condition("Reconciling", "True", "Rolling", "comparing")


@pytest.mark.parametrize(
    ("engine", "arrival"),
    [
        pytest.param(an_engine(status=a_resting_status(readyReplicas=1)), Arrival.ARRIVED, id="ready"),
        pytest.param(an_engine(), Arrival.ON_THE_WAY, id="a-ready-pod-is-not-told-of-yet"),
        pytest.param(
            an_engine(status=a_resting_status(phase="stopped", conditions=[STOPPED], readyReplicas=0)),
            Arrival.ARRIVED,
            id="stopped",
        ),
        pytest.param(an_unready_engine("Rolling"), Arrival.ON_THE_WAY, id="rolling"),
        pytest.param(an_engine(status={}), Arrival.ON_THE_WAY, id="new"),
        pytest.param(an_engine(status=a_resting_status(observedGeneration=2)), Arrival.ON_THE_WAY, id="edited"),
        pytest.param(
            an_engine(status=a_resting_status(conditions=[*a_resting_status()["conditions"], RECONCILING])),
            Arrival.ON_THE_WAY,
            id="comparing",
        ),
        pytest.param(an_unready_engine("Rolling", conditions=[stalled("SpecInvalid")]), Arrival.STUCK, id="stuck"),
        pytest.param(None, Arrival.GONE, id="gone"),
    ],
)
def test_whether_it_has_arrived(engine: Manifest | None, arrival: Arrival) -> None:
    assert seen(engine, a_pod(is_ready=True)).arrival is arrival
    assert drawn(seen(engine))


@pytest.mark.parametrize("phase", ["", "creating", "switching", "draining", "cleaning", "stable", "stopped"])
def test_every_phase_can_be_drawn(phase: str) -> None:
    text = drawn(seen(an_unready_engine("Rolling", phase=phase)))
    assert ("●" in text) is (phase in {"creating", "switching", "draining", "cleaning"})
    assert ("✓ stopped" in text) is (phase == "stopped")
