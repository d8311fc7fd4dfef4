"""What an engine inherits from: what caches know, and what they ask for."""

from dataclasses import dataclass, field
from typing import Any, cast

import msgspec
import pytest

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.errors import ForbiddenError, OperatorError, TransientError
from firebolt_operator.reconciling.inheritance import Inheritance
from firebolt_operator.refs import Ref
from tests.support.engines import a_spec


@dataclass
class Server:
    kinds: set[str] = field(default_factory=set[str])  # that have one of the name
    failures: dict[str, OperatorError] = field(default_factory=dict[str, OperatorError])
    asked: list[str] = field(default_factory=list[str])

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        kind = ref.resource.kind
        self.asked.append(kind)
        if kind in self.failures:
            raise self.failures[kind]
        metadata = {"name": ref.name, "namespace": ref.namespace, "uid": kind, "resourceVersion": "5"}
        return msgspec.json.encode({"metadata": metadata, "spec": {"template": {}}}) if kind in self.kinds else None

    def inheritance(self) -> Inheritance:
        return engine_caches((), "").inheritance(cast("Any", self))


OWN, SHARED = "FireboltEngineClass", "ClusterFireboltEngineClass"


@pytest.mark.parametrize(
    ("kinds", "expected", "asked"),
    [
        pytest.param({OWN}, FireboltEngineClass, [OWN], id="of-the-namespace"),
        pytest.param({SHARED}, ClusterFireboltEngineClass, [OWN, SHARED], id="of-the-cluster"),
        pytest.param({OWN, SHARED}, FireboltEngineClass, [OWN], id="the-namespace-wins"),
        pytest.param(set[str](), None, [OWN, SHARED], id="nowhere"),
    ],
)
async def test_a_class_that_no_cache_knows_is_asked_for(
    kinds: set[str], expected: type[object] | None, asked: list[str]
) -> None:
    server = Server(kinds)
    inheritance = server.inheritance()
    found = await inheritance.engine_class("ns", "big")
    assert (type(found) if found else None, server.asked) == (expected, asked)
    if expected:
        assert await inheritance.engine_class("ns", "big") is found
        assert server.asked == asked, "whoever is known costs no request"


async def test_without_rights_there_are_no_classes_of_the_cluster_and_any_other_failure_is_told() -> None:
    server = Server(failures={SHARED: ForbiddenError("no", status=403)})
    assert await server.inheritance().engine_class("ns", "big") is None
    server.failures = {SHARED: TransientError("away")}
    with pytest.raises(TransientError):
        await server.inheritance().engine_class("ns", "big")


async def test_templates_come_highest_first_and_a_class_without_a_spec_has_none() -> None:
    caches = engine_caches((), "")
    inheritance = caches.inheritance(cast("Any", Server()))
    metadata = {"name": "big", "namespace": "ns", "uid": "u", "resourceVersion": "5"}
    caches.engine_classes.written(
        Ref(caches.engine_classes.resource, "ns", "big"), msgspec.json.encode({"metadata": metadata})
    )
    spec = a_spec(engine_class_ref="big", template={"own": True})
    assert inheritance.templates("ns", spec) == [{"own": True}, None, None]
