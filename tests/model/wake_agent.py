"""What the gateway's agent can do next, with its own wake requests. Nothing else of it has a memory."""

from collections.abc import Iterator
from functools import cache
from typing import Final

from firebolt_operator.wake.decide.wake_requests import WakeRequests
from tests.model.wake_world import OLDEST, TICK, Age, Agent, World

ENGINE: Final = "eng"
NOW: Final = 1e6  # seconds on the agent's own clock
SECONDS: Final = TICK.total_seconds()


def agent_steps(world: World) -> Iterator[tuple[str, World]]:
    agent = world.agent
    if not agent.sees_endpoints:
        yield "a query arrives", world._replace(agent=asked(agent))
    elif not agent.is_routed:
        yield "a query arrives", world._replace(agent=agent._replace(holds=True))
    if agent.holds:
        yield "the client leaves", world._replace(agent=agent._replace(holds=False))
    if agent.asked is not None and agent.is_due and agent.flight is None:
        yield "the agent stamps", world._replace(agent=claimed(agent))
    if agent.flight is not None:
        yield from _landings(world, agent.flight)
    restarted = Agent(sees_endpoints=agent.sees_endpoints, is_routed=agent.sees_endpoints)
    if agent != restarted:
        yield "the agent restarts", world._replace(agent=restarted)
    if agent.sees_endpoints:
        yield "its endpoints go", world._replace(agent=vanished(agent))
    elif world.truth.status.size:
        yield "its endpoints appear", world._replace(agent=appeared(agent))
    if agent.sees_endpoints and not agent.is_routed:
        yield "Envoy knows its endpoints", world._replace(agent=routed(agent))


def _landings(world: World, stamp: int) -> Iterator[tuple[str, World]]:
    yield "the stamp lands", landed(world)
    lost = world._replace(agent=_settled(world.agent, is_stored=False))
    yield "the stamp is refused", lost
    yield "the answer to the stamp is lost", requested(lost, stamp)


def landed(world: World) -> World:
    stamp = world.agent.flight
    assert stamp is not None
    return requested(world._replace(agent=_settled(world.agent, is_stored=True)), stamp)


def requested(world: World, stamp: int) -> World:
    """A merge patch changes nothing but the annotation, and the same text changes nothing at all."""
    if world.truth.request == stamp:
        return world
    return world._replace(truth=world.truth._replace(request=stamp), is_used=False)


@cache
def asked(agent: Agent) -> Agent:
    requests = _requests(agent)
    requests.demand(ENGINE, now=NOW)
    return _read(agent._replace(holds=True), requests)


@cache
def claimed(agent: Agent) -> Agent:
    requests = _requests(agent)
    claim = requests.claim(now=NOW)
    found = _read(agent, requests)
    return found if claim is None else found._replace(flight=_age(claim.asked_at))


@cache
def appeared(agent: Agent) -> Agent:
    """Whoever waits does so until Envoy knows them; a query that finds them gone is a new one."""
    requests = _requests(agent)
    requests.forget(ENGINE)
    return _read(agent._replace(sees_endpoints=True), requests)


@cache
def routed(agent: Agent) -> Agent:
    """Whoever waits is released."""
    requests = _requests(agent)
    requests.forget(ENGINE)
    return _read(agent._replace(is_routed=True, holds=False), requests)


@cache
def vanished(agent: Agent) -> Agent:
    """Whoever waits was forgotten when they appeared, and is asked for again."""
    gone = agent._replace(sees_endpoints=False, is_routed=False)
    return asked(gone) if gone.holds else gone


@cache
def _settled(agent: Agent, *, is_stored: bool) -> Agent:
    requests = _requests(agent)
    if is_stored:
        requests.stamped(ENGINE, now=NOW)
    else:
        requests.failed(ENGINE, now=NOW, delay=0.5)
    return _read(agent._replace(flight=None), requests)


def _requests(agent: Agent) -> WakeRequests:
    """The real one, in the state that the world says."""
    requests = WakeRequests(is_waiting=lambda _: agent.holds)
    if agent.asked is None:
        return requests
    requests.demand(ENGINE, now=NOW - agent.asked * SECONDS)
    demand = requests._demands[ENGINE]
    demand.is_owed, demand.is_claimed = agent.is_owed, agent.flight is not None
    demand.is_forgotten, demand.is_new = agent.is_forgotten, agent.is_new
    requests._due.clear()
    if not demand.is_claimed:
        requests._due.append((NOW if agent.is_due else NOW + 1, 0, ENGINE, demand))
    return requests


def _read(agent: Agent, requests: WakeRequests) -> Agent:
    demand = requests._demands.get(ENGINE)
    if demand is None:
        return Agent(agent.sees_endpoints, agent.is_routed, agent.holds, flight=agent.flight)
    due_at = requests.next_due_at()
    return agent._replace(
        asked=_age(demand.asked_at),
        is_owed=demand.is_owed,
        is_due=due_at is not None and due_at <= NOW,
        is_forgotten=demand.is_forgotten,
        is_new=demand.is_new,
    )


def _age(at: float) -> Age:
    return min(round((NOW - at) / SECONDS), OLDEST)
