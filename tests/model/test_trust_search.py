"""CAs change while engines roll and gateways too: no query meets a gateway that does not trust its engine.

Processes die after every write, Secrets cannot be read, caches lag, CAs change there and back. Each guard that is taken
out is found.
"""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.tls.decide import renewal, trust
from firebolt_operator.tls.decide.renewal import ServingCertificate
from firebolt_operator.tls.decide.trust import TrustPlan
from firebolt_operator.tls.facts import GatewayRollout, TrustBundle, TrustedAuthority, TrustSituation
from tests.model import trust_search
from tests.model.trust_search import BrokenError, explored
from tests.model.trust_world import FINGERPRINTS, World, start

THERE_AND_BACK = start(changes_left=2, rolls_left=1)
LOSING = start(losses_left=1, rolls_left=1)
LAGGING = start(1, seen=start(1).engines, changes_left=2, rolls_left=3)


def test_a_ca_that_changes_loses_no_query() -> None:
    assert len(explored(start(rolls_left=1)).came_from) > 300


@pytest.mark.slow
@pytest.mark.parametrize(
    "world",
    [
        pytest.param(start(), id="once"),
        pytest.param(THERE_AND_BACK, id="there-and-back"),
        pytest.param(LOSING, id="a-secret-cannot-be-read"),
        pytest.param(start(seen=start().engines, rolls_left=1, changes_left=2), id="caches-lag"),
        pytest.param(LAGGING, id="caches-lag-and-an-engine-rolls-often"),
    ],
)
def test_whatever_happens_then_no_query_is_lost(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    search = explored(world)
    with capsys.disabled():
        print(f"\n  {len(search.came_from):,} states (all of them), {search.transitions:,} transitions")


def caught(world: World) -> str:
    with pytest.raises(BrokenError) as found:
        explored(world)
    return str(found.value).splitlines()[0]


def test_forgetting_what_a_generation_was_started_with_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its Secret was renewed under another CA; its pods know nothing of that."""
    original = trust._wanted

    def forgetful(situation: TrustSituation) -> dict[str, TrustedAuthority]:
        return original(replace(situation, bundle=TrustBundle()))

    monkeypatch.setattr(trust, "_wanted", forgetful)
    assert caught(start(rolls_left=1)) == trust_search.LOST


def test_dropping_what_cannot_be_read_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = trust._wanted

    def hasty(situation: TrustSituation) -> dict[str, TrustedAuthority]:
        read = {name: text for name, text in situation.seen.items() if text}
        return original(replace(situation, seen=read))

    monkeypatch.setattr(trust, "_wanted", hasty)
    assert caught(start(1, losses_left=1, rolls_left=2)) == trust_search.LOST


def test_telling_engines_before_the_gateway_serves_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def early(_: frozenset[str], plan: TrustPlan, *, is_served: bool) -> frozenset[str]:
        del is_served
        return plan.may_publish

    monkeypatch.setattr(trust, "published_authorities", early)
    assert caught(start(rolls_left=1)) == trust_search.OVERSTATED


def test_a_rollout_that_is_complete_on_an_older_configuration_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def complete(self: GatewayRollout, _: str) -> bool:
        return self.is_complete

    monkeypatch.setattr(GatewayRollout, "serves", complete)
    assert caught(start(rolls_left=1)) == trust_search.OVERSTATED


def test_taking_a_ca_away_before_engines_were_told_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = trust.decide_trust

    def abrupt(situation: TrustSituation) -> TrustPlan:
        return original(replace(situation, published=frozenset()))

    monkeypatch.setattr(trust, "decide_trust", abrupt)
    assert caught(start(1, rolls_left=2, changes_left=2)) in {trust_search.OVERSTATED, trust_search.LOST}


def test_switching_before_the_gateway_trusts_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    def careless(*_: object, **__: object) -> bool:
        return True

    monkeypatch.setattr(trust, "may_take_queries", careless)
    assert caught(start(rolls_left=1)) == trust_search.LOST


def test_switching_to_a_generation_that_the_bundle_does_not_know_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its CA is trusted, for the sake of others."""

    def by_authority(new: trust.NewGeneration, _: TrustBundle, published: frozenset[str]) -> bool:
        return blob_fingerprint(new.authority) in published

    monkeypatch.setattr(trust, "may_take_queries", by_authority)
    assert caught(LOSING) == trust_search.LOST


def test_a_revision_that_comes_back_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that were started for a set of CAs may have loaded another one that was there meanwhile."""

    def by_content(_: TrustBundle, authorities: Mapping[str, TrustedAuthority]) -> TrustBundle:
        return TrustBundle(authorities, sum(FINGERPRINTS[each] for each in authorities) - 1)

    monkeypatch.setattr(trust, "_revised", by_content)
    assert caught(start(rolls_left=1)) == trust_search.OVERSTATED


def test_hoarding_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    original = trust._wanted

    def hoarding(situation: TrustSituation) -> Mapping[str, TrustedAuthority]:
        return {**situation.bundle.authorities, **original(situation)}

    monkeypatch.setattr(trust, "_wanted", hoarding)
    assert caught(start(1, rolls_left=1)) == trust_search.RESTLESS


def test_switching_to_pods_that_read_another_certificate_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was renewed under another CA while they started, and nobody has seen the one that they serve."""

    def never(_: ServingCertificate, __: ServingCertificate) -> bool:
        return False

    monkeypatch.setattr(renewal, "is_renewed", never)
    assert caught(start(changes_left=2, rolls_left=1)) == trust_search.LOST
