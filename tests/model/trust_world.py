"""Engines whose certificates come from CAs that change, and gateway pods that trust some of them: a small value.

All of it speaks TLS already. Pods, of engines and of the gateway, read certificates when they start and never again.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.tls.decide import renewal, trust
from firebolt_operator.tls.decide.renewal import ServingCertificate
from firebolt_operator.tls.facts import GatewayRollout, TrustBundle, TrustedAuthority, TrustSituation

Authorities = frozenset[int]

FINGERPRINTS = {blob_fingerprint(f"CA-{number}"): number for number in (1, 2)}
Step = tuple[str, "World"]


class Bundle(NamedTuple):
    known: tuple[tuple[int, frozenset[str]], ...]  # each CA, and the generations it was seen in
    revision: int = 0


class Gen(NamedTuple):
    number: int
    served: int  # the CA of what its pods read
    secret: int  # the CA of what its Secret holds now


class Engine(NamedTuple):
    serving: Gen
    next: Gen | None = None
    old: Gen | None = None
    is_switching: bool = False  # it has read what the gateway trusts, and is about to write

    @property
    def generations(self) -> tuple[Gen, ...]:
        return tuple(gen for gen in (self.serving, self.next, self.old) if gen is not None)


class Pod(NamedTuple):
    """Of the gateway: which configuration it was started for, and the bundle that it found then."""

    revision: int
    loaded: Authorities


class Flight(NamedTuple):
    """What a pass still writes, in this order."""

    bundle: Bundle | None
    revision: int | None
    published: Authorities | None


class World(NamedTuple):
    engines: tuple[Engine, ...]
    bundle: Bundle
    revision: int  # of the gateway's Deployment
    pods: frozenset[Pod]
    published: Authorities
    authority: int = 1  # that the issuer signs with
    flight: Flight | None = None
    hidden: str = ""  # a Secret that cannot be read
    seen: tuple[Engine, ...] | None = None  # as the cache has them; None: the truth
    changes_left: int = 1
    rolls_left: int = 2
    losses_left: int = 0


def start(count: int = 2, **fields: Any) -> World:
    """So many engines, at rest."""
    trusted = frozenset({1})
    engines = (Engine(Gen(0, 1, 1)),) * count
    bundle = Bundle(((1, frozenset(f"e{index}-g0" for index in range(count))),))
    world = World(engines, bundle, 0, frozenset({Pod(0, trusted)}), trusted)
    return world._replace(**fields)


def carried(bundle: Bundle) -> Authorities:
    return frozenset(number for number, _ in bundle.known)


def steps(world: World) -> Iterator[Step]:
    yield from operator_steps(world)
    yield from gateway_steps(world)
    for index in range(len(world.engines)):
        yield from engine_steps(world, index)
    yield from _surroundings(world)


def operator_steps(world: World) -> Iterator[Step]:
    flight = world.flight
    if flight is None:
        found = decided(world)
        if found is not None:
            yield "the instance decides", world._replace(flight=found)
        return
    engines = tuple(engine._replace(is_switching=False) for engine in world.engines)
    restarted = world._replace(flight=None, engines=engines)
    yield "the operator dies", restarted if world.seen is None else restarted._replace(seen=engines)
    yield landed(world, flight)


def landed(world: World, flight: Flight) -> Step:
    if flight.bundle is not None:
        return "the bundle is written", _next(world._replace(bundle=flight.bundle), flight._replace(bundle=None))
    if flight.revision is not None:
        after = world._replace(revision=flight.revision)
        return "the gateway is written", _next(after, flight._replace(revision=None))
    assert flight.published is not None
    return "the status is written", world._replace(published=flight.published, flight=None)


def _next(world: World, flight: Flight) -> World:
    return world._replace(flight=None if flight == Flight(None, None, None) else flight)


def decided(world: World) -> Flight | None:
    plan = trust.decide_trust(_situation(world))
    known = sorted((FINGERPRINTS[key], each.generations) for key, each in plan.bundle.authorities.items())
    bundle = Bundle(tuple(known), plan.bundle.revision)
    is_served = world.bundle == bundle and _rollout(world).serves(str(bundle.revision))
    told = trust.published_authorities(_prints(world.published), plan, is_served=is_served)
    published = frozenset(FINGERPRINTS[each] for each in told)
    flight = Flight(
        bundle if bundle != world.bundle else None,
        bundle.revision if bundle.revision != world.revision else None,
        published if published != world.published else None,
    )
    return None if flight == Flight(None, None, None) else flight


def _situation(world: World) -> TrustSituation:
    engines = world.engines if world.seen is None else world.seen
    texts = {
        f"e{index}-g{gen.number}": "" if f"e{index}-g{gen.number}" == world.hidden else f"CA-{gen.secret}\n"
        for index, engine in enumerate(engines)
        for gen in engine.generations
    }
    return TrustSituation(
        seen=texts,
        anchor="CA-1",
        bundle=_bundle(world),
        published=_prints(world.published),
    )


def _bundle(world: World) -> TrustBundle:
    known = {
        blob_fingerprint(f"CA-{number}"): TrustedAuthority(f"CA-{number}", generations)
        for number, generations in world.bundle.known
    }
    return TrustBundle(known, world.bundle.revision)


def _prints(authorities: Authorities) -> frozenset[str]:
    return frozenset(blob_fingerprint(f"CA-{number}") for number in authorities)


def _rollout(world: World) -> GatewayRollout:
    is_complete = {pod.revision for pod in world.pods} == {world.revision}
    return GatewayRollout(config_hash=str(world.revision), is_complete=is_complete)


def gateway_steps(world: World) -> Iterator[Step]:
    """Full capacity at all times: a new pod is there before an old one goes."""
    news = Pod(world.revision, carried(world.bundle))
    olds = [pod for pod in world.pods if pod.revision != world.revision]
    if olds and len(olds) == len(world.pods):
        yield "a new gateway pod starts", world._replace(pods=world.pods | {news})
    elif olds:
        yield "an old gateway pod ends", world._replace(pods=world.pods - {olds[0]})


def engine_steps(world: World, index: int) -> Iterator[Step]:
    for name, after, spent in _moves(world, index, world.engines[index]):
        engines = (*world.engines[:index], after, *world.engines[index + 1 :])
        yield f"e{index} {name}", world._replace(engines=engines, rolls_left=world.rolls_left - spent)


def _moves(world: World, index: int, engine: Engine) -> Iterator[tuple[str, Engine, int]]:
    if engine.old is not None:
        yield "has drained", engine._replace(old=None), 0
    elif engine.next is None:
        if world.rolls_left:
            made = Gen(engine.serving.number + 1, world.authority, world.authority)
            yield "makes a generation", engine._replace(next=made), 1
    elif engine.is_switching:
        yield "switches", Engine(engine.next, old=engine.serving), 0
    elif _is_renewed(engine.next):
        made = Gen(engine.next.number + 1, world.authority, world.authority)
        yield "abandons a generation for another", engine._replace(next=made), 0
    elif _may_switch(world, f"e{index}-g{engine.next.number}", engine.next):
        yield "is about to switch", engine._replace(is_switching=True), 0
    if engine.serving.secret != world.authority:
        renewed = engine._replace(serving=engine.serving._replace(secret=world.authority))
        yield "has its certificate renewed in place", renewed, 0
    if engine.next is not None and engine.next.secret != world.authority:
        renewed = engine._replace(next=engine.next._replace(secret=world.authority))
        yield "has the certificate of its next generation renewed in place", renewed, 0


def _is_renewed(gen: Gen) -> bool:
    """Its pods read another one when they started."""
    served, live = (ServingCertificate(f"of CA-{number}", gen.number) for number in (gen.served, gen.secret))
    return renewal.is_renewed(served, live)


def _may_switch(world: World, name: str, gen: Gen) -> bool:
    """Read live, after the generation was made."""
    new = trust.NewGeneration(name=name, authority="" if name == world.hidden else f"CA-{gen.secret}")
    return trust.may_take_queries(new, _bundle(world), _prints(world.published))


def _surroundings(world: World) -> Iterator[Step]:
    if world.changes_left:
        changed = world._replace(authority=3 - world.authority, changes_left=world.changes_left - 1)
        yield "the CA changes", changed
    if world.hidden:
        yield "a Secret can be read again", world._replace(hidden="")
    elif world.losses_left:
        for index, engine in enumerate(world.engines):
            hidden = f"e{index}-g{engine.serving.number}"
            yield f"Secret {hidden} cannot be read", world._replace(hidden=hidden, losses_left=world.losses_left - 1)
    for index, seen in enumerate(world.seen or ()):
        if world.seen is not None and seen != world.engines[index]:
            news = (*world.seen[:index], world.engines[index], *world.seen[index + 1 :])
            yield f"the watch tells of e{index}", world._replace(seen=news)
