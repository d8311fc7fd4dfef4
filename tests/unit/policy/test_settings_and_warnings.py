"""Durations and replicas that admission refuses, what it only warns of, and what a gateway's account may write."""

import copy
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.class_checks import check_class_admission
from firebolt_operator.policy.engine_checks import check_engine_admission, check_new_binding, check_settings
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.gateway_limits import check_gateway_write, is_gateway_account
from firebolt_operator.policy.guards import check_is_guarded
from firebolt_operator.policy.inherited import FoundClass
from firebolt_operator.policy.warnings import class_warnings, engine_warnings, instance_warnings
from firebolt_operator.refs import Manifest, Ref
from tests.unit.policy.builders import a_container, a_template, an_engine_spec, an_instance_spec, paths

NO_BOUNDS = ResourceBounds()
THREE = ResourceBounds(replicas=3)
WINDOW: Manifest = {"start": "08:00", "end": "18:00"}


def a_class_spec(**spec: Any) -> EngineClassSpec:
    return msgspec.convert({"template": {}, **spec}, EngineClassSpec)


def auto_stop(**fields: Any) -> Manifest:
    return {"autoStop": {"activeReplicas": 1, **fields}}


BUDGET = "spec.podDisruptionBudget.maxUnavailable"


def budget(most: int | str) -> Manifest:
    return {"podDisruptionBudget": {"maxUnavailable": most}}


BAD_SETTINGS = [
    pytest.param({"drainCheckInterval": "5x"}, NO_BOUNDS, "spec.drainCheckInterval", id="malformed-interval"),
    pytest.param({"drainCheckInterval": "999ms"}, NO_BOUNDS, "spec.drainCheckInterval", id="interval-below-its-floor"),
    pytest.param({"drainTimeout": "1d"}, NO_BOUNDS, "spec.drainTimeout", id="days-are-no-unit"),
    pytest.param({"progressDeadline": ""}, NO_BOUNDS, "spec.progressDeadline", id="empty-deadline"),
    pytest.param(auto_stop(idleTimeout="soon"), NO_BOUNDS, "spec.autoStop.idleTimeout", id="malformed-idle-timeout"),
    pytest.param(auto_stop(pollInterval="1ms"), NO_BOUNDS, "spec.autoStop.pollInterval", id="poll-below-its-floor"),
    pytest.param(budget("half"), NO_BOUNDS, BUDGET, id="budget-in-words"),
    pytest.param(budget("5"), NO_BOUNDS, BUDGET, id="budget-as-text"),
    pytest.param(budget("101%"), NO_BOUNDS, BUDGET, id="more-than-all"),
    pytest.param(budget(-1), NO_BOUNDS, BUDGET, id="less-than-none"),
    pytest.param(budget(2**31), NO_BOUNDS, BUDGET, id="more-than-kubernetes-can-read"),
    pytest.param(auto_stop(activeReplicas=4), THREE, "spec.autoStop.activeReplicas", id="too-many-active"),
]


@pytest.mark.parametrize(("fields", "bounds", "path"), BAD_SETTINGS)
def test_bad_settings_are_refused_on_engine_and_class(fields: Manifest, bounds: ResourceBounds, path: str) -> None:
    assert paths(check_engine_admission(an_engine_spec(**fields), None, None, bounds)) == [path]
    assert paths(check_class_admission(a_class_spec(**fields), bounds)) == [path]


@pytest.mark.parametrize("most", [0, 1, 1000, "0%", "7%", "25%", "100%"])
def test_budgets_that_are_fine(most: int | str) -> None:
    assert check_settings(an_engine_spec(**budget(most)), NO_BOUNDS) == []
    assert check_class_admission(a_class_spec(**budget(most)), NO_BOUNDS) == []


def test_words_of_a_malformed_budget() -> None:
    assert aggregate(check_settings(an_engine_spec(**budget("x" * 65)), NO_BOUNDS)) == (
        f'{BUDGET}: Invalid value: "{"x" * 64}...": must be a number of pods, such as 1, or a share of them,'
        ' such as "25%"'
    )
    assert aggregate(check_settings(an_engine_spec(**budget(1001)), NO_BOUNDS)) == (
        f"{BUDGET}: Invalid value: 1001: must be between 0 and 1000"
    )


def test_words_of_a_malformed_duration() -> None:
    assert aggregate(check_settings(an_engine_spec(drainTimeout="1d"), NO_BOUNDS)) == (
        'spec.drainTimeout: Invalid value: "1d": "1d" is not a duration; write it like 30s or 1h30m'
    )
    assert aggregate(check_settings(an_engine_spec(drainCheckInterval="10ms"), NO_BOUNDS)) == (
        'spec.drainCheckInterval: Invalid value: "10ms": must be at least 1s'
    )


def test_replicas_above_the_operators_maximum_are_refused() -> None:
    assert paths(check_settings(an_engine_spec(replicas=4), THREE)) == ["spec.replicas"]
    assert check_settings(an_engine_spec(replicas=3), THREE) == []


def test_a_class_reports_its_template_and_its_settings_at_once() -> None:
    spec = a_class_spec(template=a_template(hostname="x"), drainTimeout="x")
    assert paths(check_class_admission(spec, NO_BOUNDS)) == ["spec.template.spec.hostname", "spec.drainTimeout"]
    assert check_class_admission(None, NO_BOUNDS) == []


TEXTS = st.sampled_from(["5s", "0", "-1h", "10ms", "soon", "", "1d", "1h30m"])
NODES = st.integers(min_value=1, max_value=5)


@given(
    replicas=NODES,
    durations=st.dictionaries(st.sampled_from(["drainCheckInterval", "drainTimeout", "progressDeadline"]), TEXTS),
    policy=st.none() | st.fixed_dictionaries({"activeReplicas": NODES, "idleTimeout": TEXTS, "pollInterval": TEXTS}),
)
def test_what_admission_takes_has_nothing_to_mend_in_the_controller(
    replicas: int, durations: Manifest, policy: Manifest | None
) -> None:
    spec = an_engine_spec(replicas=replicas, **durations, **({"autoStop": policy} if policy else {}))
    stalled = spec_problems(spec, None, THREE)
    if not check_settings(spec, THREE):
        assert stalled is None
    if stalled is not None:
        assert check_settings(spec, THREE) != []


@pytest.mark.parametrize(
    ("is_deleting", "is_bound", "expected"),
    [(True, False, ["spec.engineClassRef"]), (True, True, []), (False, False, [])],
    ids=["deleted-and-new", "deleted-and-bound", "alive"],
)
def test_a_class_that_is_being_deleted_takes_no_new_engines(
    is_deleting: bool, is_bound: bool, expected: list[str]
) -> None:
    found = FoundClass(name="large", spec=a_class_spec(), is_deleting=is_deleting)
    assert paths(check_new_binding(found, is_bound_already=is_bound)) == expected


def test_a_class_without_its_finalizer_is_not_deleted_yet() -> None:
    large = Ref(FIREBOLT_ENGINE_CLASSES, "ns", "large")
    assert check_is_guarded(large, is_guarded=True) == []
    assert "try again" in aggregate(check_is_guarded(large, is_guarded=False))


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param({}, [], id="nothing-odd"),
        pytest.param(
            {"replicas": 0, **auto_stop(schedule=[WINDOW])}, ["its schedule starts nothing"], id="schedule-off"
        ),
        pytest.param({"replicas": 0, **auto_stop(enabled=True, schedule=[WINDOW])}, [], id="schedule-on"),
        pytest.param({"replicas": 1, **auto_stop(schedule=[WINDOW])}, [], id="schedule-off-but-running"),
        pytest.param(auto_stop(timeZone="Mars/Phobos"), ['"Mars/Phobos" is no time zone'], id="no-such-zone"),
        pytest.param(
            {
                "template": a_template(
                    a_container("engine", image="repo/engine"), initContainers=[a_container("i", image="x")]
                )
            },
            ["spec.template.spec.containers[0].image", "spec.template.spec.initContainers[0].image"],
            id="images-without-a-tag",
        ),
        pytest.param(
            {"template": a_template(a_container("engine", image="host:5000/engine:1"), a_container("s"))},
            [],
            id="tagged",
        ),
        pytest.param({"template": a_template(a_container("engine", image=f"x@sha256:{'0' * 64}"))}, [], id="by-digest"),
    ],
)
def test_warnings_of_an_engine(spec: Manifest, words: list[str]) -> None:
    told = engine_warnings(an_engine_spec(**spec), None)
    assert len(told) == len(words)
    assert all(expected in warning for warning, expected in zip(told, words, strict=True))


def test_an_engine_is_warned_of_what_it_inherits() -> None:
    found = FoundClass(name="large", spec=a_class_spec(drainTimeout="x", **auto_stop(schedule=[WINDOW])))
    told = engine_warnings(an_engine_spec(replicas=0), found)
    assert ["starts nothing" in told[0], 'FireboltEngineClass "large" has a bad drainTimeout' in told[1]] == [
        True,
        True,
    ]


def test_warnings_of_classes_and_instances() -> None:
    template = a_template(a_container("engine", image="x"))
    zone = a_class_spec(template=template, **auto_stop(timeZone="X"))
    assert ["timeZone" in each or "image" in each for each in class_warnings(zone)] == [True, True]
    assert class_warnings(None) == []
    spec = an_instance_spec(gateway={"template": template})
    assert [each.partition(":")[0] for each in instance_warnings(spec)] == [
        "spec.gateway.template.spec.containers[0].image",
    ]


ENGINE: Manifest = {
    "metadata": {"name": "eng", "annotations": {"note": "x"}, "labels": {"a": "b"}, "resourceVersion": "1"},
    "spec": {"replicas": 0},
}


def changed(**metadata: Any) -> Manifest:
    engine = copy.deepcopy(ENGINE)
    engine["metadata"] |= metadata
    return engine


STAMPED = {"note": "x", "firebolt.io/wake-requested": "2026-01-31T12:00:00Z"}


@pytest.mark.parametrize(
    ("new", "expected"),
    [
        pytest.param(changed(annotations=STAMPED, resourceVersion="2", managedFields=[1]), [], id="a-stamp"),
        pytest.param(changed(), [], id="nothing"),
        pytest.param({**changed(), "spec": {"replicas": 1}}, ["spec"], id="the-spec"),
        pytest.param(changed(finalizers=["x"]), ["metadata.finalizers"], id="a-finalizer"),
        pytest.param(changed(labels={}), ["metadata.labels"], id="a-label"),
        pytest.param(changed(annotations={"note": "y"}), ["metadata.annotations[note]"], id="another-annotation"),
        pytest.param(changed(annotations={}), ["metadata.annotations[note]"], id="a-removed-annotation"),
        pytest.param(
            changed(annotations={**STAMPED, "firebolt.io/wake-requested": "soon"}),
            ["metadata.annotations[firebolt.io/wake-requested]"],
            id="no-time",
        ),
        pytest.param(None, ["metadata.name"], id="deletion"),
    ],
)
def test_a_gateway_stamps_and_does_nothing_else(new: Manifest | None, expected: list[str]) -> None:
    assert paths(check_gateway_write(ENGINE, new)) == expected
    assert paths(check_gateway_write(None, new)) == ["metadata.name"]


@pytest.mark.parametrize(
    ("username", "expected"),
    [
        ("system:serviceaccount:ns:inst-gateway", True),
        ("system:serviceaccount:ns:custom", True),
        ("system:serviceaccount:other:inst-gateway", False),
        ("system:serviceaccount:ns:my-inst-gateway", False),
        ("inst-gateway", False),
    ],
)
def test_gateways_are_known_by_their_whole_name(username: str, expected: bool) -> None:
    assert is_gateway_account(username, "ns", "inst", frozenset({"custom"})) is expected
