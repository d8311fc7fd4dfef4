"""Is it told whose finalizer holds what does not go away, and the way out?"""

from datetime import timedelta

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.explain.finding import Weight
from kubectl_firebolt.explain.seen import Kind
from kubectl_firebolt.names import EngineClassReason, InstanceReason
from tests.support.plugin import a_condition, an_engine
from tests.unit.plugin.explained import AWAY, a_class, a_pod, an_instance, an_unready_engine, explained, leaving

OURS = "compute.firebolt.io/engine-cleanup"
HOUR = timedelta(hours=1)


def test_a_deletion_that_is_under_way() -> None:
    told = explained(leaving(an_engine(), OURS))
    assert (told.state, told.is_well) == ("being deleted", False)
    assert [(finding.weight, finding.what) for finding in told.findings] == [
        (Weight.WAITS, "the operator is cleaning up after it")
    ]
    assert told.next_step.startswith("It deletes what belongs to the engine")


def test_a_finalizer_of_somebody_else() -> None:
    told = explained(leaving(an_engine(), "example.com/backup", OURS, since=HOUR))
    foreign, ours = told.findings
    assert foreign.what == "finalizer example.com/backup is not the operator's, and holds it since 60m"
    patch = f'{{"metadata":{{"finalizers":["{OURS}"]}}}}'
    assert foreign.fix.endswith("do it yourself")
    assert foreign.command == f"kubectl -n ns patch fireboltengine e1 --type=merge -p '{patch}'"
    assert ours.what.endswith("which is longer than a deletion takes")


def test_commands_name_the_cluster_that_was_looked_at() -> None:
    """A finalizer must not be stripped somewhere else."""
    told = explained(leaving(an_engine(), "example.com/backup"), flags=("--context", "my prod"))
    assert told.findings[0].command.startswith("kubectl --context 'my prod' -n ns patch fireboltengine e1 ")
    gone = explained(
        an_unready_engine("InstanceNotReady"), instance=leaving(an_instance()), flags=("--context", "prod")
    )
    assert gone.findings[0].command == "kubectl firebolt explain instance/i1 --context prod -n ns"


def test_no_operator_to_take_ours_off() -> None:
    told = explained(leaving(an_engine(), OURS, since=HOUR), operators=AWAY)
    assert told.findings[0].what == f"finalizer {OURS} holds it, and no operator is at work to take it off"
    assert '{"metadata":{"finalizers":[]}}' in told.findings[0].command
    assert told.findings[0].fix.endswith("labelled firebolt.io/engine=e1")
    assert told.next_step == "Nothing: no operator is at work."


def test_children_that_others_hold_hold_nothing_up() -> None:
    child = leaving(a_pod() | {"kind": "StatefulSet"}, "example.com/keep")
    told = explained(an_engine(), children=[child])
    assert (told.is_well, told.findings[0].weight) == (True, Weight.NOTE)
    gone = explained(None, children=[child])
    assert gone.state == "gone, but not all that belonged to it"
    assert gone.findings[0].what == "StatefulSet/e1-g0-0 is being deleted and held by example.com/keep"


def test_a_pod_that_outlives_its_grace() -> None:
    pod = leaving(a_pod("i1-gateway-0"), since=timedelta(minutes=5))
    pod["metadata"]["labels"] = {}
    fresh = leaving(a_pod("i1-gateway-1"), since=timedelta(minutes=-1))
    fresh["metadata"]["labels"] = {}
    told = explained(an_instance(), kind=Kind.INSTANCE, instance_pods=[pod, fresh])
    assert [finding.what for finding in told.findings] == [
        "pod i1-gateway-0 should have been gone for 5m: its node does not confirm that it has ended"
    ]


def test_a_class_that_is_used() -> None:
    guard = "compute.firebolt.io/fireboltengineclass-deletion-guard"
    users = [an_engine("b"), an_engine("a"), leaving(an_engine("gone"))]
    told = explained(leaving(a_class(), guard, since=HOUR), kind=Kind.ENGINE_CLASS, engines=users)
    assert told.findings[0].what == "class small is used by 2 engine(s): a, b"
    free = explained(leaving(a_class(), guard), kind=Kind.ENGINE_CLASS)
    assert free.findings[0].weight is Weight.WAITS


def test_a_preset_that_is_used() -> None:
    guard = "compute.firebolt.io/fireboltenginepresets-deletion-guard"
    told = explained(leaving(a_class(), guard, since=HOUR), kind=Kind.ENGINE_PRESET, engines=[an_engine("a")])
    assert told.findings[0].what == "preset small is used by 1 engine(s): a"
    assert told.findings[0].fix.startswith("delete them, then it goes")


def test_a_class_of_the_cluster_is_held_by_engines_of_any_namespace() -> None:
    guard = "compute.firebolt.io/clusterfireboltengineclass-deletion-guard"
    told = explained(leaving(a_class(), guard, since=HOUR), kind=Kind.CLUSTER_ENGINE_CLASS, engines=[an_engine("a")])
    assert told.findings[0].what == "clusterclass small is used by 1 engine(s): ns/a"
    free = explained(leaving(a_class(), guard, since=HOUR), kind=Kind.CLUSTER_ENGINE_CLASS, operators=AWAY)
    assert "patch clusterfireboltengineclass small" in free.findings[0].command


def test_a_class_of_the_cluster_has_no_status_and_is_well() -> None:
    everywhere = {"metadata": {"name": "medium", "generation": 7}, "spec": {}}
    told = explained(everywhere, kind=Kind.CLUSTER_ENGINE_CLASS, engines=[an_engine("a"), an_engine("b")])
    assert (told.is_well, told.state, list(told.findings)) == (True, "used by 2 engine(s)", [])


@pytest.mark.parametrize("kind", [Kind.ENGINE_CLASS, Kind.ENGINE_PRESET])
@pytest.mark.parametrize("reason", [each for each in EngineClassReason if each != "Admissible"])
def test_every_reason_of_a_class_or_a_preset_has_a_fix(reason: str, kind: Kind) -> None:
    told = explained(a_class(a_condition("Ready", "False", reason, "words")), kind=kind)
    assert told.findings[0].fix
    assert "tried again by itself" not in told.findings[0].fix


WELL = {"Ready", "AllComponentsReady", "Disabled", "Canonical"}


@pytest.mark.parametrize("reason", [each for each in InstanceReason if each not in WELL])
def test_every_reason_of_an_instance_has_a_fix(reason: str) -> None:
    instance = an_instance(a_condition("MetadataReady", "False", reason, "words"))
    told = explained(instance, kind=Kind.INSTANCE)
    assert told.findings[0].fix
    assert "tried again by itself" not in told.findings[0].fix


@pytest.mark.parametrize(
    ("subject", "kind", "state"),
    [
        (an_instance(a_condition("Ready", "True", "x", "y"), phase="Ready"), Kind.INSTANCE, "ready, phase Ready"),
        (a_class(a_condition("Ready", "True", "Admissible", "y")), Kind.ENGINE_CLASS, "ready"),
    ],
)
def test_what_is_well_lacks_nothing(subject: Manifest, kind: Kind, state: str) -> None:
    told = explained(subject, kind=kind)
    assert (told.is_well, told.state, list(told.findings)) == (True, state, [])
    assert told.next_step == "Nothing: it is what its spec asks for."
