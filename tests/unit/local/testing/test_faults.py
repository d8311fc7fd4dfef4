"""Does a failed step say what the cluster knows, and what a person can do?"""

import pytest

from firebolt_local.testing.faults import event_line, explanation, observed, pod_in_trouble
from firebolt_operator.errors import TransientError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest

UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes fit"}
PULLING = {"name": "engine", "ready": False, "state": {"waiting": {"reason": "ErrImagePull", "message": "no such tag"}}}


def a_pod(*, conditions: list[Manifest], containers: list[Manifest]) -> Manifest:
    status = {"phase": "Pending", "conditions": conditions, "containerStatuses": containers}
    return {"metadata": {"name": "analytics-g1-0"}, "status": status}


@pytest.mark.parametrize(
    ("pod", "line"),
    [
        pytest.param(a_pod(conditions=[{"type": "Ready", "status": "True"}], containers=[]), "", id="ready-is-no-news"),
        pytest.param(
            a_pod(conditions=[UNSCHEDULABLE], containers=[]),
            "pod analytics-g1-0: Pending; Unschedulable: 0/1 nodes fit",
            id="unschedulable",
        ),
        pytest.param(
            a_pod(conditions=[], containers=[PULLING]),
            "pod analytics-g1-0: Pending; container engine waiting: ErrImagePull no such tag",
            id="image-pull",
        ),
        pytest.param(
            a_pod(conditions=[], containers=[{"name": "engine", "ready": False, "state": {"running": {}}}]),
            "pod analytics-g1-0: Pending; ",
            id="running-but-not-ready",
        ),
    ],
)
def test_pods_speak_for_themselves(pod: Manifest, line: str) -> None:
    assert pod_in_trouble(pod) == line


def test_an_event_says_when_what_and_where() -> None:
    event: Manifest = {
        "metadata": {},
        "lastTimestamp": "2026-01-01T10:00:00Z",
        "reason": "FailedMount",
        "message": "no volume\n",
        "involvedObject": {"kind": "Pod", "name": "analytics-g1-0"},
    }
    assert event_line(event) == "event 2026-01-01T10:00:00Z FailedMount on Pod analytics-g1-0: no volume"


def test_an_explanation_has_a_problem_observations_and_ways_out() -> None:
    text = explanation("scale", "not done within 120 s", ["pod a: Pending"], ["make demo"])
    assert text == (
        "step 'scale': not done within 120 s\n\nWhat the cluster says:\n  pod a: Pending\n\nWhat to try:\n  make demo"
    )


class Away:
    async def list(self, scope: Scope, /) -> list[Manifest]:
        raise TransientError(f"listing {scope}: connection refused")


async def test_a_cluster_that_is_away_still_leaves_an_explanation() -> None:
    seen = await observed(Away(), ["default"])
    assert "nothing; it could not be asked" in explanation("scale", "connection refused", seen, [])
