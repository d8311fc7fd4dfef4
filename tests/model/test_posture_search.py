"""The gateway's listener is tightened, loosened and renewed: nobody slips in, and nobody is turned away for nothing."""

import pytest

from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.tls.decide import gateway_posture
from firebolt_operator.tls.facts import GatewayRollout
from tests.model import posture_search
from tests.model.posture_search import BrokenError, at_rest, explored
from tests.support.engines import NOON

POSTURES = ("plain", "tls", "mutual-1")


@pytest.mark.parametrize("posture", POSTURES)
def test_whatever_is_asked_for_and_whenever_then_no_door_stands_open(posture: str) -> None:
    assert len(explored(at_rest(posture, edits_left=2, outages_left=1)).came_from) > 500


@pytest.mark.slow
@pytest.mark.parametrize("posture", POSTURES)
def test_the_same_with_more_changes_of_mind(posture: str) -> None:
    explored(at_rest(posture, edits_left=3, outages_left=2))


def test_a_certificate_that_comes_and_goes_closes_no_listener() -> None:
    worlds = explored(at_rest("tls", edits_left=0, outages_left=2)).came_from
    assert {world.template for world in worlds} == {"tls"}


def caught(posture: str) -> str:
    with pytest.raises(BrokenError) as found:
        explored(at_rest(posture, edits_left=2, outages_left=1))
    return str(found.value).splitlines()[0]


def test_tightening_without_closing_first_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway_posture._Enabled, "is_tightening", property(lambda _: False))
    assert caught("tls") == posture_search.OPEN_DOOR


def test_a_changed_ca_of_clients_that_is_not_noticed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_levels(self: gateway_posture._Enabled) -> bool:
        served = gateway_posture.served_mode(self.situation.status)
        return gateway_posture.LEVELS[self.desired] > gateway_posture.LEVELS[served]

    monkeypatch.setattr(gateway_posture._Enabled, "is_tightening", property(only_levels))
    assert caught("mutual-1") == posture_search.OPEN_DOOR


def test_opening_before_every_pod_is_closed_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def hasty(self: GatewayRollout, config_hash: str) -> bool:
        return self.config_hash == config_hash

    monkeypatch.setattr(GatewayRollout, "serves", hasty)
    assert caught("plain") in {posture_search.OPEN_DOOR, posture_search.UNTRUE}


def test_believing_a_rollout_of_an_older_configuration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def complete(self: GatewayRollout, _: str) -> bool:
        return self.is_complete

    monkeypatch.setattr(GatewayRollout, "serves", complete)
    assert caught("plain") in {posture_search.OPEN_DOOR, posture_search.UNTRUE}


def test_not_looking_at_what_is_served_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*_: object) -> bool:
        return True

    monkeypatch.setattr(gateway_posture._Enabled, "_is_served", always)
    assert caught("tls") in {posture_search.OPEN_DOOR, posture_search.UNTRUE}


def test_changing_the_gateway_before_the_record_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies in between leaves pods that are looser than anybody knows."""

    def effect_first(world: posture_search.World, posture: str) -> tuple[str, str] | None:
        template = posture_search.rendered(world.wanted, posture)
        if template != world.template:
            return "gateway", template
        return ("status", posture) if posture != world.stored else None

    monkeypatch.setattr(posture_search, "next_write", effect_first)
    assert caught("mutual-1") == posture_search.OPEN_DOOR


def test_a_status_without_a_mode_is_one_way() -> None:
    old = GatewayTLSStatus(secret_name="own", created_at=NOON)
    assert gateway_posture.served_mode(old) == "TLS"
