"""Rotation of signing keys, explored on the operator's own decision; and proof that it would notice.

Processes die after every write, clocks of leaders differ, engines are stuck, parked, woken and born, Secrets are
deleted and rotation is edited on its way. The engine's side is a sketch of what engines have to keep to: a generation
is made from a live look at the instance, and takes queries only if it was made with what the instance says then.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.auth import AuthStatus, SigningKeyStatus
from firebolt_operator.api.names import RotationStep
from firebolt_operator.auth.decide import gates, provisioning, rotation
from firebolt_operator.auth.decide.gates import Gate, Open, Unconfirmed
from firebolt_operator.auth.decide.material import Material, Usable, judge_material
from firebolt_operator.auth.decide.rotation import Progress, Rotation
from firebolt_operator.auth.decide.signing_keys import replaced
from firebolt_operator.auth.facts import EngineKeys
from firebolt_operator.auth.held_keys import HeldKey
from firebolt_operator.auth.plan import DeleteCertificate
from firebolt_operator.manifests.issued import Issued
from tests.model import rotation_operator, rotation_rules, rotation_search, rotation_steps
from tests.model.rotation_search import BrokenError, Search, start
from tests.model.rotation_world import Engine, Gen, May, World

AT_REST = Engine(serving=Gen(((1, 1),)))
UNBORN = start(engines=(AT_REST, Engine(exists=False)), births_left=1)
PARKING = start(may=May(park=True))
LAGGING = UNBORN._replace(may=May(lag=True), seen=UNBORN.engines)
DRIFTING = start(may=May(drift=True))
LOSING = start(3, deletions_left=1)
REPLACED = start(3, plants_left=1)
SWITCHING = start(3, switches_left=2)


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    rotation_operator.forget()
    yield
    rotation_operator.forget()


def explored(world: World, most: int = 30_000) -> Search:
    search = Search(most=most)
    search.run(world)
    search.check_ends(every=11)
    search.check_stuck(every=11)
    return search


def test_a_rotation_keeps_every_promise_whoever_is_stuck() -> None:
    search = explored(start())
    assert search.is_complete
    assert len(search.came_from) > 2_000


def test_no_engine_ever_holds_a_key_that_somebody_else_put_there() -> None:
    search = explored(REPLACED)
    assert any(issue.secret < 0 for world in search.came_from for issue in world.issues)
    assert any(key.number == 3 for world in search.came_from for key in world.status.keys)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("world", "is_all"),
    [
        pytest.param(start(3), True, id="two-rotations"),
        pytest.param(UNBORN, True, id="an-engine-is-born"),
        pytest.param(PARKING, True, id="an-engine-parks-and-wakes"),
        pytest.param(DRIFTING, True, id="clocks-differ"),
        pytest.param(LOSING, False, id="a-secret-is-deleted"),
        pytest.param(start(4, deletions_left=1, plants_left=1), False, id="a-secret-is-deleted-and-one-replaced"),
        pytest.param(start(may=May(be_edited=True)), True, id="rotation-is-edited"),
        pytest.param(LAGGING, False, id="caches-lag"),
        pytest.param(SWITCHING, False, id="authentication-is-switched-off-and-on"),
    ],
)
def test_whatever_happens_then_every_promise_is_kept(
    world: World, *, is_all: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    search = explored(world)
    with capsys.disabled():
        print(f"\n  {len(search.came_from):,} states, {search.transitions:,} transitions")
    assert search.is_complete or not is_all


def caught(world: World, most: int = 30_000) -> str:
    """The rule that a broken operator breaks first."""
    with pytest.raises(BrokenError) as found:
        explored(world, most)
    return str(found.value).splitlines()[0]


def without_gate(monkeypatch: pytest.MonkeyPatch, opened: RotationStep) -> None:
    original = gates.gate

    def careless(step: RotationStep, key: HeldKey, fleet: Any, *, waited: timedelta) -> Gate:
        return Open() if step is opened else original(step, key, fleet, waited=waited)

    monkeypatch.setattr(rotation, "gate", careless)


@pytest.mark.parametrize(
    ("step", "rule"),
    [
        (RotationStep.PROMOTION, rotation_rules.REFUSED),
        (RotationStep.RETIRE_ANCHOR, rotation_rules.REFUSED),
        (RotationStep.REMOVAL, rotation_rules.RETIRED),
    ],
)
def test_a_step_past_an_engine_that_is_stuck_is_caught(
    monkeypatch: pytest.MonkeyPatch, step: RotationStep, rule: str
) -> None:
    without_gate(monkeypatch, step)
    assert caught(start()) == rule


def test_a_retention_that_begins_when_the_key_is_demoted_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Rotation._promote

    def hasty(self: Rotation, active: SigningKeyStatus, other: SigningKeyStatus) -> Progress:
        return original(self, replaced(active, retire_eligible_at=self.situation.now), other)

    monkeypatch.setattr(Rotation, "_promote", hasty)
    assert caught(start()) == rotation_rules.REFUSED


def test_a_key_that_is_not_retained_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def none_at_all(_: object) -> timedelta:
        return timedelta(0)

    monkeypatch.setattr(rotation, "least_retention", none_at_all)
    monkeypatch.setattr(rotation, "_parsed", none_at_all)
    assert caught(start()) == rotation_rules.REFUSED


def test_a_retention_without_slack_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rotation, "SLACK", timedelta(0))
    assert caught(DRIFTING) == rotation_rules.REFUSED


def test_a_gate_that_believes_its_cache_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = gates.gate

    def trusting(step: RotationStep, key: HeldKey, fleet: Any, *, waited: timedelta) -> Gate:
        found = original(step, key, fleet, waited=waited)
        return Open() if isinstance(found, Unconfirmed) else found

    monkeypatch.setattr(rotation, "gate", trusting)
    assert caught(LAGGING) == rotation_rules.REFUSED


@pytest.mark.parametrize("looked_at", [slice(0, 1), slice(1, None)], ids=["not-what-drains", "not-what-serves"])
def test_a_gate_that_looks_at_some_generations_only_is_caught(
    monkeypatch: pytest.MonkeyPatch, looked_at: slice
) -> None:
    original = gates._lags

    def partial(step: RotationStep, key: HeldKey, engine: EngineKeys, waited: timedelta) -> bool:
        return original(step, key, replace(engine, generations=engine.generations[looked_at]), waited)

    monkeypatch.setattr(gates, "_lags", partial)
    assert caught(start()) == rotation_rules.REFUSED


def test_a_gate_that_overlooks_an_engine_in_the_making_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "UNBORN_GRACE", timedelta(days=-1))
    assert caught(UNBORN) == rotation_rules.REFUSED


def test_a_rotation_that_waits_for_a_parked_engine_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def strict(step: RotationStep, key: HeldKey, generation: Any) -> bool:
        return bool(gates._HINDRANCES[step](generation.keys, key))

    monkeypatch.setattr(gates, "_hinders", strict)
    parked = Engine(wants=False, serving=Gen(((1, 1),), is_running=False))
    assert caught(start(engines=(parked, AT_REST))) == rotation_search.UNFINISHED


def test_an_engine_that_wakes_with_keys_of_yesterday_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(engine: Engine, told: object) -> bool:
        del told
        return engine.next is not None

    monkeypatch.setattr(rotation_steps, "may_switch", careless)
    assert caught(PARKING) == rotation_rules.REFUSED


def test_a_counter_that_starts_over_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(_: AuthStatus | None) -> None:
        return None

    monkeypatch.setattr(provisioning, "_switched_off", forgetful)
    assert caught(SWITCHING) == rotation_rules.REUSED


def test_a_replaced_key_that_is_taken_for_a_new_one_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def trusting(key: SigningKeyStatus, issued: Issued) -> Material:
        return judge_material(replaced(key, observed_public_key_fingerprint=""), issued)

    monkeypatch.setattr(provisioning, "judge_material", trusting)
    assert caught(REPLACED) == rotation_rules.PLANTED


def test_a_key_that_is_listed_before_it_is_there_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def hopeful(key: SigningKeyStatus, _: object) -> Usable:
        return Usable(replaced(key, observed_public_key_fingerprint=f"{key.id.rpartition('-')[2]}.1"))

    monkeypatch.setattr(rotation, "judge_material", hopeful)
    assert caught(start()) == rotation_rules.ORPHAN


def test_a_certificate_that_is_left_behind_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = Rotation._remove

    def untidy(self: Rotation, other: SigningKeyStatus) -> Progress:
        progress = original(self, other)
        return replace(
            progress, writes=tuple(each for each in progress.writes if not isinstance(each, DeleteCertificate))
        )

    monkeypatch.setattr(Rotation, "_remove", untidy)
    assert caught(start()) == rotation_rules.LEFT_BEHIND


def test_a_second_key_that_is_minted_beside_another_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> None:
        return None

    monkeypatch.setattr(rotation, "other_key", none)
    assert caught(start(3)) == rotation_rules.TWO_OTHERS


def test_a_rotation_that_stops_when_it_is_edited_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever turns rotation off in the middle leaves two keys; whoever turns it on again must get one."""
    original = Rotation._retire_when_expired

    def stubborn(self: Rotation, other: SigningKeyStatus, since: Any) -> Progress:
        return self._resting(rotation.POLL) if self.asked.rotation_interval else original(self, other, since)

    monkeypatch.setattr(Rotation, "_retire_when_expired", stubborn)
    assert caught(start()) == rotation_search.UNFINISHED
