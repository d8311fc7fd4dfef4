"""What must hold of an engine that is parked and woken, whatever happened before; each rule names itself.

`decided` is the table of rules once more, in ages: the decision must agree with it in every situation that is reached.
"""

from collections.abc import Iterator
from typing import Final

from tests.model.wake_operator import BUSY, QUIET, SCRAPE_FAILED, UNKNOWN, Look, Pass, Write
from tests.model.wake_world import NONSENSE, OLDEST, ROLLING, SIZES, Age, Engine, World

ACTIVE: Final = 1
IDLE: Final = 0
LIFETIME: Final = 2  # ticks
PHASES: Final = ("stable", "stopped", ROLLING)


def is_fresh(engine: Engine) -> bool:
    """Somebody asks, not too long ago, and was not heard yet."""
    request, handled = engine.request, engine.status.handled
    if request is None or request == NONSENSE or not 0 <= request < LIFETIME:
        return False
    return handled is None or request < handled


def decided(look: Look, activity: Age) -> tuple[int, str]:
    """Nodes and reason, first match wins; `activity` as it was refreshed by this pass."""
    seen = look.seen
    if seen.replicas == 0:
        return (ACTIVE, "WakeRequested") if is_fresh(seen) else (0, "Stopped")
    if look.answer == UNKNOWN:
        return seen.replicas, "Initializing"
    if look.answer in {SCRAPE_FAILED, BUSY}:
        return seen.replicas, "ScrapeFailed" if look.answer == SCRAPE_FAILED else "ActivityObserved"
    if activity is None:
        return seen.replicas, "Initializing"
    return (IDLE, "Idle") if activity >= OLDEST else (seen.replicas, "ActivityObserved")


def broken_pass(look: Look, ran: Pass) -> Iterator[str]:
    seen, status = look.seen, look.seen.status
    if seen.replicas == 0 and ran.is_polled:
        yield "a parked engine is not scraped"
    is_rolling = status.phase == ROLLING or status.size != seen.replicas
    if is_rolling and not (status.phase == ROLLING and look.is_rolled):
        if any(write.replicas is not None for write in ran.writes):
            yield "a rollout has one writer of the nodes"
        return
    activity = 0 if status.phase == ROLLING and seen.replicas else status.activity
    replicas, reason = decided(look, activity)
    if not ran.has_failed and (ran.reason, _resized(ran)) != (reason, None if replicas == seen.replicas else replicas):
        yield f"the table says {replicas} nodes, {reason}; it was {_resized(ran)}, {ran.reason}"
    if seen == look.truth and is_fresh(seen) and seen.replicas == 0 and _resized(ran) != ACTIVE:
        yield "a request is not lost"
    is_quiet = look.answer == QUIET and status.activity is not None and not is_rolling and seen.request is None
    if is_quiet and replicas == seen.replicas and ran.writes:
        yield "nothing is written without news"


def broken_write(world: World, look: Look, write: Write) -> Iterator[str]:
    """Judged by what the API server held when the write came."""
    truth, replicas = world.truth, write.replicas
    if replicas is None or replicas == truth.replicas:
        return
    if truth.replicas and replicas != IDLE:
        yield "a running engine is only ever parked"
    if truth.replicas and look.seen != truth:
        yield "an edit of somebody else wins"
    if truth.replicas == 0:
        if not is_fresh(look.seen):
            yield "only a fresh request wakes"
        if world.is_used:
            yield "a request wakes once"
    elif world.up != OLDEST:
        yield "a whole idle timeout passes before an engine is parked"


def broken_world(world: World) -> Iterator[str]:
    truth, agent = world.truth, world.agent
    if truth.replicas not in SIZES or truth.status.size not in SIZES or truth.status.phase not in PHASES:
        yield "levels and phases are in range"
    ages = (truth.status.activity, truth.status.handled, world.up, agent.asked, agent.flight)
    if any(age is not None and not 0 <= age <= OLDEST for age in ages):
        yield "nothing that was recorded lies ahead"
    if agent.holds and agent.is_routed:
        yield "nobody waits for an engine that is there"
    if agent.holds and not agent.sees_endpoints and (agent.asked is None or agent.is_forgotten):
        yield "whoever waits is on the books"


def _resized(ran: Pass) -> int | None:
    return next((write.replicas for write in ran.writes if write.replicas is not None), None)
