"""Who speaks TLS, and whose CAs are needed: StatefulSets and statuses tell, and what is lost is not forgotten."""

from typing import Any

import msgspec
import pytest

from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.reconciling.fleet import MadeEngine, MadeFleet, MadeGeneration
from firebolt_operator.tls.facts import EngineListener, Listeners, TrustBundle, TrustedAuthority
from firebolt_operator.tls.observe.fleet import listeners, live_generations
from tests.support.engines import an_engine


def made(number: int, *, tls: str = "hash", may_run: bool = True) -> MadeGeneration:
    labels = {"firebolt.io/engine": "eng", "firebolt.io/generation": str(number)}
    annotations = {"firebolt.io/engine-tls-hash": tls} if tls else {}
    metadata = ObjectMeta(name=f"eng-g{number}", namespace="ns", labels=labels, annotations=annotations)
    return MadeGeneration(metadata, may_run)


def engine(*generations: MadeGeneration, current: int = 1, active: int = 1, **status: Any) -> MadeEngine:
    described: dict[str, Any] = {"phase": "stable", **status}
    found = EngineStatus(current_generation=current, active_generation=active, **described)
    return MadeEngine(engine=msgspec.structs.replace(an_engine(), status=found), generations=generations)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        pytest.param(engine(made(1)), {"tls_hash": "hash"}, id="at-rest"),
        pytest.param(engine(made(1, tls="")), {"tls_hash": ""}, id="plaintext"),
        pytest.param(
            engine(made(1, tls=""), made(2), current=2, phase="creating"), {"tls_hash": ""}, id="the-next-one-is-made"
        ),
        pytest.param(
            engine(made(1, tls=""), made(2), current=2, phase="switching"),
            {"tls_hash": "hash", "is_drained": False},
            id="switching",
        ),
        pytest.param(
            engine(made(1, tls=""), made(2), current=2, active=2, draining_generation=1, phase="draining"),
            {"tls_hash": "hash", "is_drained": False},
            id="draining",
        ),
        pytest.param(
            engine(made(1, may_run=False), made(2), current=2, active=2, draining_generation=1, phase="draining"),
            {"tls_hash": "hash"},
            id="drained",
        ),
        pytest.param(engine(made(1, may_run=False)), {"tls_hash": "hash", "has_pods": False}, id="parked"),
        pytest.param(engine(current=0, active=-1, phase="creating"), {"tls_hash": "", "has_pods": False}, id="unborn"),
        pytest.param(
            engine(made(0), current=0, active=-1, phase="creating"), {"tls_hash": "hash"}, id="its-first-generation"
        ),
    ],
)
def test_how_an_engine_is_spoken_to(found: MadeEngine, expected: dict[str, Any]) -> None:
    (seen,) = listeners(MadeFleet(engines=(found,))).engines
    assert seen == EngineListener(name="eng", **expected)


def test_an_engine_that_cannot_be_read_may_speak_either() -> None:
    lost = MadeFleet(unknown=("f", "e", "d", "c", "b", "a"))
    assert listeners(lost) == Listeners(problem="cannot read everything of engine(s) a, b, c, d, e (and 1 more)")


def test_generations_that_serve_served_or_shall_are_all_trusted() -> None:
    found = engine(made(0), made(7), current=3, active=2, draining_generation=1, phase="draining")
    names = live_generations(MadeFleet(engines=(found,)), TrustBundle())
    assert names == {f"eng-g{number}-engine-tls" for number in (0, 1, 2, 3, 7)}
    unborn = engine(current=0, active=-1)
    assert live_generations(MadeFleet(engines=(unborn,)), TrustBundle()) == {"eng-g0-engine-tls"}


def test_of_an_engine_that_cannot_be_read_nothing_is_forgotten() -> None:
    known = frozenset({"lost-g1-engine-tls", "lost-g2-engine-tls", "gone-g1-engine-tls", "lost-too-g1-engine-tls"})
    bundle = TrustBundle({"fp": TrustedAuthority("CA", known)}, 1)
    assert live_generations(MadeFleet(unknown=("lost",)), bundle) == {"lost-g1-engine-tls", "lost-g2-engine-tls"}
    assert live_generations(MadeFleet(), bundle) == frozenset()
