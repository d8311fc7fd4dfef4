"""Does every trouble of an engine become a finding with a fix, and is the next step the operator's own?"""

from datetime import timedelta

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.explain.finding import Weight
from kubectl_firebolt.names import EngineReason
from tests.support.plugin import a_condition, a_resting_status, an_engine
from tests.unit.plugin.explained import (
    AWAY,
    NOW,
    a_container,
    a_pod,
    an_instance,
    an_unready_engine,
    explained,
    stalled,
)

PULLING = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "engine:2"'}}
CRASHING = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}}
ENDED = {"terminated": {"reason": "Error", "exitCode": 1}}
OUT_OF_MEMORY = {"terminated": {"reason": "OOMKilled", "exitCode": 137}}
UNSCHEDULABLE = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}


def test_an_engine_at_rest_lacks_nothing() -> None:
    told = explained(an_engine(), children=[a_pod(is_ready=True), a_pod("e1-g0-1", is_ready=True)])
    assert (told.is_well, list(told.findings)) == (True, [])
    assert told.state == "ready, phase stable; generation 0 serves with 2 of 2 pods ready"
    assert told.next_step == "Nothing: the engine is what its spec asks for."


@pytest.mark.parametrize("reason", [each for each in EngineReason if each not in {"EngineReady", "InstanceReady"}])
@pytest.mark.parametrize("is_stalled", [False, True])
def test_every_reason_has_a_fix(reason: str, is_stalled: bool) -> None:
    conditions = [stalled(reason)] if is_stalled else []
    told = explained(an_unready_engine(reason, conditions=conditions))
    assert told.findings
    assert all(finding.fix for finding in told.findings)
    assert all("what the message says; it is tried again" not in finding.fix for finding in told.findings)
    if is_stalled:
        assert told.findings[0].weight is Weight.BLOCKS
        assert not told.is_well


def test_a_reason_of_somebody_else_is_told_as_it_is() -> None:
    told = explained(an_unready_engine("FailedCreate", 'StatefulSet e1-g0: serviceaccount "x" not found (x3)'))
    assert told.findings[0].what == 'FailedCreate: StatefulSet e1-g0: serviceaccount "x" not found (x3)'
    assert told.findings[0].fix == "mend what the message says; it is tried again by itself"


@pytest.mark.parametrize(
    ("pod", "what", "fix"),
    [
        pytest.param(
            a_pod(containerStatuses=[a_container(state=PULLING)]),
            'container engine: ImagePullBackOff: Back-off pulling image "engine:2"',
            "see that image engine:2 exists",
            id="image",
        ),
        pytest.param(
            a_pod(containerStatuses=[a_container(state=CRASHING, lastState=ENDED)]),
            "CrashLoopBackOff: back-off 5m0s; last exit Error: code 1",
            "kubectl -n ns logs e1-g0-0 -c engine --previous",
            id="crash",
        ),
        pytest.param(
            a_pod(containerStatuses=[a_container(state=CRASHING, lastState=OUT_OF_MEMORY)]),
            "last exit OOMKilled: code 137",
            "give container engine more memory",
            id="memory",
        ),
        pytest.param(
            a_pod(containerStatuses=[a_container(state=OUT_OF_MEMORY)]),
            "restarting; last exit OOMKilled: code 137",
            "give container engine more memory",
            id="memory-just-now",
        ),
        pytest.param(
            a_pod(
                initContainerStatuses=[
                    a_container(
                        name="copy", state={"waiting": {"reason": "CreateContainerConfigError", "message": "m"}}
                    )
                ]
            ),
            "container copy: CreateContainerConfigError: m",
            "create the Secret or ConfigMap",
            id="secret",
        ),
        pytest.param(
            a_pod(conditions=[UNSCHEDULABLE]),
            "pod e1-g0-0: Unschedulable: 0/1 nodes",
            "kubectl -n ns describe pod e1-g0-0",
            id="scheduling",
        ),
        pytest.param(
            a_pod(containerStatuses=[a_container(started=True, state={"running": {}})]),
            "started, but its readiness probe fails",
            "kubectl -n ns logs e1-g0-0 -c engine",
            id="probe",
        ),
        pytest.param(
            a_pod(containerStatuses=[a_container(state={"waiting": {"reason": "ContainerCreating"}})]),
            "pod e1-g0-0 is starting",
            "give it time",
            id="starting",
        ),
    ],
)
@pytest.mark.parametrize("reason", ["Rolling", "PodsNotReady"])
def test_a_pod_in_trouble_is_what_keeps_the_engine(pod: Manifest, what: str, fix: str, reason: str) -> None:
    told = explained(an_unready_engine(reason), children=[pod, a_pod("e1-g0-1", is_ready=True)])
    assert len(told.findings) == 1
    assert what in told.findings[0].what
    assert fix in f"{told.findings[0].fix}: {told.findings[0].command}"


def test_only_pods_of_the_new_generation_count() -> None:
    engine = an_unready_engine("Rolling", currentGeneration=1)
    pods = [a_pod(), a_pod("e1-g1-0", generation=1, conditions=[UNSCHEDULABLE])]
    told = explained(engine, children=pods)
    assert [finding.what for finding in told.findings] == ["pod e1-g1-0: Unschedulable: 0/1 nodes"]
    assert told.state.endswith("generation 0 serves with 0 of 1 pods ready, generation 1 is on its way")
    assert told.next_step == (
        "It waits until all 2 pods of generation 1 are ready, then sends queries there. Generation 0 goes on serving."
    )


def test_pods_that_are_not_there_yet() -> None:
    told = explained(an_unready_engine("Rolling", activeGeneration=-1))
    assert told.findings[0].what == "generation 0 has 0 of 2 pods"
    assert told.findings[0].command == "kubectl -n ns describe statefulset e1-g0"
    assert "nothing serves yet" in told.state


@pytest.mark.parametrize(
    ("instance", "what", "fix"),
    [
        pytest.param(None, 'instance "i1" is not in this namespace', "create it here", id="missing"),
        pytest.param(
            an_instance(
                a_condition("MetadataReady", "False", "PostgresSecretPreflightFailed", 'Secret "db" not found')
            ),
            'instance "i1", MetadataReady: PostgresSecretPreflightFailed: Secret "db" not found',
            "create the Secret",
            id="secret",
        ),
        pytest.param(
            an_instance(a_condition("GatewayReady", "False", "Provisioning", "no ready replicas yet")),
            'instance "i1", GatewayReady: Provisioning: no ready replicas yet',
            "give it time",
            id="on-its-way",
        ),
        pytest.param(an_instance(phase="Failed"), 'instance "i1" is Failed', "firebolt.io/clear-failed", id="failed"),
        pytest.param(an_instance(phase="Ready"), "InstanceNotReady: words", "mend the instance", id="ready-meanwhile"),
    ],
)
def test_an_instance_to_blame(instance: Manifest | None, what: str, fix: str) -> None:
    told = explained(an_unready_engine("InstanceNotReady", phase=""), instance=instance)
    assert told.findings[0].what == what
    assert fix in told.findings[0].fix


def test_pods_of_the_instance_are_looked_at() -> None:
    pod = a_pod("i1-gateway-x", conditions=[UNSCHEDULABLE])
    pod["metadata"]["labels"] = {"firebolt.io/instance": "i1"}
    engines_pod = a_pod("e1-g0-0", conditions=[UNSCHEDULABLE])
    told = explained(an_unready_engine("InstanceNotReady"), instance=an_instance(), instance_pods=[pod, engines_pod])
    assert [finding.what for finding in told.findings] == ["pod i1-gateway-x: Unschedulable: 0/1 nodes"]


def test_a_drain_says_since_when_and_what_bounds_it() -> None:
    message = "Engine is in draining phase; generation 0 still runs queries"
    times: Manifest = {"switchedAt": "2026-05-01T11:50:00Z", "drainingGeneration": 0, "currentGeneration": 1}
    told = explained(an_unready_engine("Rolling", message, phase="draining", **times))
    assert [finding.what for finding in told.findings] == [
        "generation 0 has been draining for 10m: generation 0 still runs queries"
    ]
    assert "spec.drainTimeout would bound it" in told.findings[0].fix
    assert told.next_step.startswith("It deletes generation 0 when that runs no query any more.")
    bounded = explained(an_unready_engine("Rolling", phase="draining", spec={"drainTimeout": "1h"}, **times))
    assert "spec.drainTimeout ends it after 1h" in bounded.findings[0].fix


@pytest.mark.parametrize(
    ("auto_stop", "reason", "fix", "following"),
    [
        ({}, "Disabled", "start it", "Nothing, until spec.replicas is raised."),
        (
            {"autoStop": {"enabled": True, "activeReplicas": 3}},
            "Stopped",
            "send a query through the gateway, or start it",
            "It starts 3 nodes when a query comes through the gateway, or by schedule.",
        ),
    ],
)
def test_a_stopped_engine_is_well(auto_stop: Manifest, reason: str, fix: str, following: str) -> None:
    engine = an_unready_engine("Stopped", phase="stopped", spec=auto_stop | {"replicas": 0}, autoStopReason=reason)
    told = explained(engine)
    assert (told.is_well, told.findings[0].weight, told.findings[0].fix) == (True, Weight.NOTE, fix)
    assert told.next_step == following


def test_auto_stop_that_cannot_see_is_told() -> None:
    engine = an_engine(
        spec={"autoStop": {"enabled": True, "activeReplicas": 2, "idleTimeout": "20m"}},
        status=a_resting_status(autoStopReason="ScrapeFailed", lastActivityTime="2026-05-01T11:00:00Z"),
    )
    told = explained(engine)
    assert told.findings[0].weight is Weight.NOTE
    assert told.next_step == (
        "It takes the engine to 0 nodes after 20m without a query (last seen busy 2026-05-01T11:00:00Z)."
    )


@pytest.mark.parametrize(
    ("status", "created", "what"),
    [
        ({}, "2026-05-01T11:59:50Z", "no operator has looked at it yet"),
        ({}, "2026-05-01T11:00:00Z", "no operator has looked at it"),
        (
            a_resting_status(observedGeneration=2),
            "2026-05-01T11:00:00Z",
            "no operator has looked at its latest edit yet",
        ),
    ],
)
def test_an_engine_that_nobody_looks_after(status: Manifest, created: str, what: str) -> None:
    engine = an_engine(status=status)
    engine["metadata"]["creationTimestamp"] = created
    assert explained(engine).findings[0].what == what


def test_an_operator_that_is_away_does_nothing() -> None:
    told = explained(an_unready_engine("Rolling"), operators=AWAY)
    assert told.findings[0].what == "no operator is at work: the last one renewed its lease 10m ago"
    assert told.next_step == "Nothing: no operator is at work."
    assert "no operator" not in explained(an_unready_engine("Rolling"), operators=None).next_step
    assert "no operator" not in explained(an_unready_engine("Rolling"), operators=[]).next_step


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"phase": ""}, "It builds the first generation"),
        ({"phase": "switching", "currentGeneration": 1}, "It sends queries to generation 1"),
        ({"phase": "cleaning", "drainingGeneration": 4}, "It deletes generation 4."),
        ({"phase": "stable"}, "It waits until the pods are ready again"),
    ],
)
def test_the_next_step_follows_from_the_phase(fields: Manifest, words: str) -> None:
    phase = fields.pop("phase")
    assert explained(an_unready_engine("Rolling", phase=phase, **fields)).next_step.startswith(words)


def test_a_generation_is_not_begun_without_its_instance() -> None:
    told = explained(an_unready_engine("InstanceNotReady", activeGeneration=-1))
    assert told.next_step == "It builds generation 0 as soon as the instance is ready."
    alone = explained(an_unready_engine("Rolling", spec={"replicas": 1}, activeGeneration=-1))
    assert alone.next_step == "It waits until the pod of generation 0 is ready, then sends queries there."


def test_a_stalled_engine_waits_for_a_person() -> None:
    told = explained(an_unready_engine("Rolling", conditions=[stalled("TemplateRejected")]))
    assert told.next_step == "It waits until that is mended, and then goes on by itself. Generation 0 goes on serving."
    late = explained(an_unready_engine("Rolling", conditions=[stalled("ProgressDeadlineExceeded")]))
    assert late.next_step.startswith("It waits until all 2 pods of generation 0 are ready")


def test_an_edit_that_was_not_compared_yet() -> None:
    told = explained(an_engine(status=a_resting_status(observedGeneration=2)))
    assert told.next_step.startswith("It compares the engine with its latest edit")


def test_warnings_are_those_about_it_the_newest_first() -> None:
    def event(name: str, minutes: int, count: int = 1) -> Manifest:
        at = (NOW - timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")
        about = {"kind": "Pod", "name": name}
        return {
            "metadata": {},
            "involvedObject": about,
            "reason": "Failed",
            "message": f"{minutes}\n",
            "count": count,
            "lastTimestamp": at,
        }

    events = [event("e1-g0-0", 9), event("other", 1), event("e1-g0-0", 3, count=4)]
    told = explained(an_unready_engine("Rolling"), children=[a_pod()], warnings=events)
    assert told.warnings == ["3m ago, Pod/e1-g0-0: Failed: 3 (x4)", "9m ago, Pod/e1-g0-0: Failed: 9"]
