"""What engines depend on may not be deleted."""

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
)
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.guards import CLASS_GUARD, CLUSTER_CLASS_GUARD, PRESET_GUARD, check_deletion
from firebolt_operator.refs import Ref
from tests.unit.policy.builders import an_engine

LARGE = Ref(FIREBOLT_ENGINE_CLASSES, "ns", "large")


def test_only_engines_of_the_same_namespace_that_name_the_class_count() -> None:
    engines = [
        an_engine("a", engineClassRef="large"),
        an_engine("b", engineClassRef="large"),
        an_engine("c", engineClassRef="small"),
        an_engine("d"),
        an_engine("e"),
        an_engine("f", namespace="elsewhere", engineClassRef="large"),
        FireboltEngine(metadata=ObjectMeta(name="g", namespace="ns")),
    ]
    assert [each.metadata.name for each in CLASS_GUARD.bound(LARGE, engines)] == ["a", "b"]


def test_a_bound_class_is_kept_and_the_message_says_by_how_many_and_what_to_do() -> None:
    expected = (
        'FireboltEngineClass "large" in namespace "ns" is referenced by 2 FireboltEngine(s);'
        " clear spec.engineClassRef on those engines before deleting the class"
    )
    assert CLASS_GUARD.blocked(LARGE, 2) == expected
    assert aggregate(check_deletion(CLASS_GUARD, LARGE, 2)) == f"metadata.name: Forbidden: {expected}"


def test_an_unbound_class_may_go() -> None:
    elsewhere = [an_engine(namespace="elsewhere", engineClassRef="large")]
    assert check_deletion(CLASS_GUARD, LARGE, len(CLASS_GUARD.bound(LARGE, elsewhere))) == []


def test_all_engines_of_a_namespace_depend_on_its_preset() -> None:
    preset = Ref(FIREBOLT_ENGINE_PRESETS, "ns", "firebolt")
    engines = [an_engine("a"), an_engine("b", engineClassRef="large"), an_engine("c", namespace="elsewhere")]
    assert [each.metadata.name for each in PRESET_GUARD.bound(preset, engines)] == ["a", "b"]
    assert aggregate(check_deletion(PRESET_GUARD, preset, 2)) == (
        'metadata.name: Forbidden: 2 FireboltEngine(s) in namespace "ns" consume FireboltEnginePreset "firebolt" as'
        " their ambient overlay; delete those engines before deleting the Preset object"
    )


def test_nobody_depends_on_a_preset_that_is_ignored() -> None:
    assert PRESET_GUARD.bound(Ref(FIREBOLT_ENGINE_PRESETS, "ns", "other"), [an_engine("a")]) == []


def test_engines_of_all_namespaces_depend_on_a_class_of_the_cluster() -> None:
    shared = Ref(CLUSTER_FIREBOLT_ENGINE_CLASSES, "", "large")
    engines = [
        an_engine("a", engineClassRef="large"),
        an_engine("b", namespace="x", engineClassRef="large"),
        an_engine("c"),
    ]
    assert [each.metadata.name for each in CLUSTER_CLASS_GUARD.bound(shared, engines)] == ["a", "b"]
    assert CLUSTER_CLASS_GUARD.blocked(shared, 2).startswith(
        'ClusterFireboltEngineClass "large" is referenced by 2 FireboltEngine(s)'
    )
