"""An engine that asks for more nodes than the operator allows: no node of it is rendered, and what serves goes on."""

from dataclasses import dataclass, replace

import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.engine.render.renderer import EngineRenderer
from firebolt_operator.engine.views import Child
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.refs import Manifest, Ref
from tests.support.one_engine import NAMESPACE, OneEngine

TOO_MANY = parse_bounds(cpu="", memory="", ephemeral_storage="").replicas + 1


@dataclass(frozen=True, slots=True)
class RoutesOnly(EngineRenderer):
    """Renders nothing that names every node."""

    def config_map(self, generation: int) -> Manifest:
        raise AssertionError(f"the configuration of {self.inputs.spec.replicas} nodes, generation {generation}")

    def drift(self, statefulset: Child) -> str | None:
        raise AssertionError(f"{statefulset.metadata.name} compared with {self.inputs.spec.replicas} nodes")


def stalled(one: OneEngine) -> str:
    engine = parse_engine(one.api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, one.name)])
    found = find_condition(engine.status.conditions, "Stalled")
    return found.reason if found else ""


@pytest.mark.parametrize("is_serving", [False, True], ids=["never-ran", "serves"])
async def test_given_too_many_nodes_then_no_node_is_rendered_and_the_engine_says_so(*, is_serving: bool) -> None:
    one = OneEngine()
    if is_serving:
        await one.come_to_rest(EngineReconciler(one.dependencies()).reconcile)
        one.edit(replicas=TOO_MANY)
    else:
        one.begin(replicas=TOO_MANY)
    one.api.requests.clear()
    cautious = EngineReconciler(replace(one.dependencies(), blueprint=RoutesOnly))
    for _ in range(3):
        await cautious.reconcile(one.key)
    assert stalled(one) == "SpecInvalid"
    assert set(one.api.requests) <= {"status FireboltEngine sales", "create Event"}
