"""What may not be rendered goes on serving: the Services that lead to it are made again behind every closed gate."""

from typing import Any

import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.names import LABEL_GENERATION
from firebolt_operator.engine.decide.routing import standing_routes
from firebolt_operator.engine.facts import ABSENT, EngineFacts
from tests.support.engines import UID, NamedBlueprint, a_child, a_generation, a_status, some_facts
from tests.unit.engine.decide.test_phases import CLEANING, CREATING, DRAINING, FIRST, SWITCHING

OLD, NEW = a_generation(0), a_generation(1)
NO_STATEFULSET = a_generation(1, statefulset=None, total=0)
NOT_OURS = a_generation(0, headless_service=None, config_map=a_child("eng-g0-config", 0, owner="someone"))


def routes(status: EngineStatus, facts: EngineFacts) -> list[tuple[str, str]]:
    made = standing_routes(status, facts, NamedBlueprint(), UID)
    return [(each["metadata"]["name"], each.get("spec", {}).get("selector", {}).get(LABEL_GENERATION)) for each in made]


def rollout(service: int, **fields: Any) -> EngineFacts:
    return some_facts(**({"current": NEW, "active": OLD, "service_generation": service} | fields))


@pytest.mark.parametrize(
    ("status", "facts", "selected"),
    [
        pytest.param(a_status(), some_facts(service_generation=-1), "0", id="at-rest"),
        pytest.param(a_status(), some_facts(service_generation=5), "0", id="edited"),
        pytest.param(a_status(), some_facts(current=ABSENT, service_generation=-1), "0", id="all-is-lost-of-the-first"),
        pytest.param(FIRST, some_facts(active=ABSENT, service_generation=-1), "0", id="before-the-first-switch"),
        pytest.param(CREATING, rollout(-1), "0", id="creating"),
        pytest.param(DRAINING, some_facts(current=NEW, draining=OLD, service_generation=-1), "1", id="draining"),
        pytest.param(CLEANING, some_facts(current=NEW, draining=OLD, service_generation=-1), "1", id="cleaning"),
        pytest.param(SWITCHING, rollout(-1), "1", id="switching"),
        pytest.param(SWITCHING, rollout(7), "1", id="switching-and-edited"),
        pytest.param(SWITCHING, rollout(-1, current=a_generation(1, ready=0)), "0", id="switching-to-unready-pods"),
        pytest.param(SWITCHING, rollout(1, current=NO_STATEFULSET), "0", id="switched-to-what-is-lost"),
    ],
)
def test_the_service_leads_to_what_serves(status: EngineStatus, facts: EngineFacts, selected: str) -> None:
    assert routes(status, facts) == [("eng-service", selected)]


@pytest.mark.parametrize(
    ("status", "facts"),
    [
        pytest.param(a_status(), some_facts(), id="nothing-is-lost"),
        pytest.param(SWITCHING, rollout(0), id="a-switch-is-not-carried-on"),
        pytest.param(SWITCHING, rollout(1), id="a-switch-is-not-repeated"),
        pytest.param(SWITCHING, rollout(1, current=a_generation(1, ready=0)), id="a-switch-is-not-taken-back"),
        pytest.param(FIRST, some_facts(current=ABSENT, active=ABSENT, service_generation=-1), id="nothing-was-made"),
        pytest.param(a_status(), some_facts(current=NOT_OURS), id="the-name-is-taken"),
    ],
)
def test_nothing_is_written(status: EngineStatus, facts: EngineFacts) -> None:
    assert routes(status, facts) == []


def test_peers_find_each_other_again() -> None:
    lonely = a_generation(0, headless_service=None)
    assert [name for name, _ in routes(CREATING, rollout(0, active=lonely))] == ["eng-g0-hl"]
    assert [name for name, _ in routes(a_status(), some_facts(current=lonely))] == ["eng-g0-hl"]
