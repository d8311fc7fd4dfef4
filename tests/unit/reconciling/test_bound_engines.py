"""May a class go? Not while an engine may name it that cannot be read."""

from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.kube.set_aside import metadata_alone
from firebolt_operator.policy.guards import CLASS_GUARD
from firebolt_operator.reconciling.bound_engines import fetch_bound_engines
from firebolt_operator.refs import Ref
from tests.unit.runtime.memory_reader import MemoryReader

CLASS = Ref(FIREBOLT_ENGINE_CLASSES, "ns", "large")


def an_engine(name: str, engine_class: str) -> bytes:
    spec = f'{{"instanceRef":"i","replicas":1,"engineClassRef":"{engine_class}"}}'
    return f'{{"metadata":{{"name":"{name}","namespace":"ns"}},"spec":{spec}}}'.encode()


async def test_an_engine_of_which_only_metadata_can_be_had_is_counted() -> None:
    reader = MemoryReader()
    reader.objects["ns", "a"] = an_engine("a", "large")
    reader.objects["ns", "b"] = an_engine("b", "another")
    assert await fetch_bound_engines(CLASS_GUARD, CLASS, reader) == 1
    reader.objects["ns", "c"] = metadata_alone(an_engine("c", "another"))
    assert await fetch_bound_engines(CLASS_GUARD, CLASS, reader) == 2


async def test_one_that_is_no_engine_is_counted_once() -> None:
    reader = MemoryReader()
    reader.objects["ns", "a"] = an_engine("a", "large")
    reader.objects["ns", "b"] = b'{"metadata":{"name":"b","namespace":"ns"},"spec":{"instanceRef":["no","name"]}}'
    assert await fetch_bound_engines(CLASS_GUARD, CLASS, reader) == 2
