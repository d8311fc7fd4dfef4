"""A class that engines of its namespace name may not be deleted."""

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.policy.class_checks import check_class_deletion, count_bound_engines, deletion_blocked_message
from firebolt_operator.policy.field_errors import aggregate
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
    assert count_bound_engines(LARGE, engines) == 2


def test_a_bound_class_is_kept_and_the_message_says_by_how_many_and_what_to_do() -> None:
    expected = (
        'FireboltEngineClass "large" in namespace "ns" is referenced by 2 FireboltEngine(s);'
        " clear spec.engineClassRef on those engines before deleting the class"
    )
    assert deletion_blocked_message(LARGE, 2) == expected
    assert aggregate(check_class_deletion(LARGE, 2)) == f"metadata.name: Forbidden: {expected}"


def test_an_unbound_class_may_go() -> None:
    elsewhere = [an_engine(namespace="elsewhere", engineClassRef="large")]
    assert check_class_deletion(LARGE, count_bound_engines(LARGE, elsewhere)) == []
