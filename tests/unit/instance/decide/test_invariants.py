"""Whatever happens to the components, and in whatever order: the phase tells the truth about them."""

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.instance.decide.components import decide_instance
from firebolt_operator.instance.decide.conditions import ROLLED_UP
from firebolt_operator.instance.decide.setup import decide_setup
from firebolt_operator.instance.facts import Readiness
from tests.support.instances import NOON, a_situation, an_instance, some_facts

NEW_ID = "01NEW000000000000000000000"


@dataclass(frozen=True)
class World:
    postgres: bool
    metadata: bool
    gateway: bool

    @property
    def is_up(self) -> bool:
        return self.postgres and self.metadata and self.gateway


WORLDS = st.builds(World, postgres=st.booleans(), metadata=st.booleans(), gateway=st.booleans())


def next_status(status: InstanceStatus, world: World) -> InstanceStatus:
    """One pass. The metadata service is not ready while its database is down."""
    instance: FireboltInstance = an_instance(status=status)
    plan = decide_setup(instance, new_id=NEW_ID, now=NOON)
    if plan is None:
        facts = some_facts(
            metadata_service=Readiness(world.postgres and world.metadata), gateway=Readiness(world.gateway)
        )
        plan = decide_instance(a_situation(instance, facts))
    return plan.status


@given(worlds=st.lists(WORLDS, min_size=1, max_size=30))
def test_the_phase_reflects_the_world_after_every_pass(worlds: list[World]) -> None:
    status = next_status(InstanceStatus(), worlds[0])
    assert status.phase == "Provisioning"  # the first pass only begins
    was_ready = False
    for world in worlds:
        status = next_status(status, world)
        was_ready = was_ready or world.is_up
        expected = "Ready" if world.is_up else ("Degraded" if was_ready else "Provisioning")
        assert status.phase == expected
        ready = find_condition(status.conditions, "Ready")
        assert ready is not None
        assert ready.is_true is world.is_up
        on_its_way = {each.type for each in status.conditions} & {"Stalled", "Reconciling"}
        assert on_its_way == (set() if world.is_up else {"Reconciling"})
        assert status.observed_generation == 3
        found = [find_condition(status.conditions, kind) for kind in ROLLED_UP]
        assert all(each is not None and each.is_true for each in found) is world.is_up
        assert bool(status.metadata_endpoint) is status.metadata_ready is (world.postgres and world.metadata)
        assert bool(status.gateway_endpoint) is status.gateway_ready is world.gateway


@given(worlds=st.lists(WORLDS, max_size=10))
def test_once_everything_stays_up_the_instance_becomes_and_stays_ready(worlds: list[World]) -> None:
    status = InstanceStatus()
    for world in worlds:
        status = next_status(status, world)
    all_up = World(postgres=True, metadata=True, gateway=True)
    status = next_status(next_status(status, all_up), all_up)
    assert status.phase == "Ready"
    assert next_status(status, all_up) == status
