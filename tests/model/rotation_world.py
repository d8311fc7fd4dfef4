"""Signing keys between an instance, its engines, cert-manager and people, as a small immutable value.

Instants are ages in ticks of five minutes, as true time has it. A stamp was written by the operator's clock, which may
run a tick ahead of the last leader's: such a stamp has an age of -1 when it is new. Tokens live for two ticks.
"""

from typing import Final, NamedTuple

from firebolt_operator.auth.decide.rotation import SLACK

TICK: Final = SLACK
LIFETIME: Final = 2  # ticks that a token is valid, skew included; what a replaced key is retained for
INTERVAL: Final = 1  # ticks between rotations
OLDEST: Final = LIFETIME + 2  # no rule asks for more: not even a clock that runs behind

Age = int | None
Held = tuple[tuple[int, int], ...]  # (number, which material) of each key, the one that signs first


class Key(NamedTuple):
    """An entry of the status."""

    number: int
    phase: str
    material: int
    created: int
    is_demoted: bool = False
    anchored: Age = None


class Status(NamedTuple):
    keys: tuple[Key, ...] = ()
    counter: int = 0
    pending: str = ""
    waiting: Age = None
    lagging: tuple[str, ...] = ()


class Issue(NamedTuple):
    """The objects of one key: whether its Certificate exists, what is in its Secret, and how much has been so far.

    Nothing (0), or what cert-manager made, by its number; what somebody else put there is below 0.
    """

    has_certificate: bool = False
    secret: int = 0
    last: int = 0


class Gen(NamedTuple):
    keys: Held  # empty: no authentication
    is_running: bool = True


class Engine(NamedTuple):
    """`making`, `is_switching`: a pass is between what it read live and what it writes. Time ends every pass."""

    exists: bool = True
    wants: bool = True  # nodes
    serving: Gen | None = None
    next: Gen | None = None
    old: Gen | None = None  # draining: queries may still reach it
    making: Held | None = None
    is_switching: bool = False

    @property
    def routed(self) -> tuple[Gen, ...]:
        return tuple(gen for gen in (self.serving, self.old) if gen is not None and gen.is_running)

    @property
    def generations(self) -> tuple[Gen, ...]:
        return tuple(gen for gen in (self.serving, self.next, self.old) if gen is not None)


class Flight(NamedTuple):
    """A pass of the instance that has decided: what it still writes, the status last."""

    writes: tuple[tuple[str, int], ...]
    status: Status | None


class May(NamedTuple):
    """What may happen in a search."""

    park: bool = False
    be_edited: bool = False  # rotation is turned off and on in the spec
    drift: bool = False  # the next leader's clock differs
    lag: bool = False  # engines are looked at through a cache


class World(NamedTuple):
    status: Status
    issues: tuple[Issue, ...]
    engines: tuple[Engine, ...]
    tokens: tuple[tuple[int, int, int], ...] = ()  # number, material and age of the youngest token
    flight: Flight | None = None
    is_on: bool = True
    rotates: bool = True
    offset: int = 0  # of the operator's clock, in ticks
    used: int = 0  # highest number that was ever recorded
    void: int = 0  # keys up to this number belong to a time before authentication was turned off
    seen: tuple[Engine, ...] | None = None  # as the cache has them; None: it has the truth
    lost: frozenset[int] = frozenset()  # keys that a person destroyed while their tokens were good
    births_left: int = 0
    deletions_left: int = 0
    plants_left: int = 0
    switches_left: int = 0
    may: May = May()


def rendered(world: World) -> Held | None:
    """What engines are told when they read everything live; None: they are told to wait."""
    if not world.is_on:
        return ()
    active = [key for key in world.status.keys if key.phase == "Active"]
    others = [key for key in world.status.keys if key.phase == "ValidationOnly"]
    if not active:
        return None
    keys = [*active, *others]
    if any(world.issues[key.number - 1].secret != key.material for key in keys):
        return None  # not there, or not the one that the instance has witnessed
    return tuple((key.number, key.material) for key in keys)


def signed_now(world: World) -> frozenset[tuple[int, int]]:
    """Every key that some engine signs with at this moment, of the present time of authentication."""
    routed = (gen for engine in world.engines for gen in engine.routed)
    return frozenset(gen.keys[0] for gen in routed if gen.keys and gen.keys[0][0] > world.void)


def good_tokens(world: World) -> frozenset[tuple[int, int]]:
    """Keys with tokens that are valid, unless a person destroyed the key."""
    alive = {(number, material) for number, material, age in world.tokens if age < LIFETIME and number > world.void}
    return frozenset(key for key in alive | signed_now(world) if key[0] not in world.lost)


def with_tokens(world: World) -> World:
    """Whoever can sign has signed just now."""
    now = signed_now(world)
    kept = [token for token in world.tokens if token[:2] not in now]
    tokens = tuple(sorted([*kept, *((number, material, 0) for number, material in now)]))
    return world if tokens == world.tokens else world._replace(tokens=tokens)


def later(world: World) -> World:
    """A tick passes, and every pass that was under way has ended by then."""
    tokens = tuple((number, material, age + 1) for number, material, age in world.tokens if age + 1 < LIFETIME)
    engines = tuple(engine._replace(making=None, is_switching=False) for engine in world.engines)
    return world._replace(status=_aged(world.status), tokens=tokens, engines=engines, flight=None)


def _aged(status: Status) -> Status:
    keys = tuple(
        key._replace(created=min(_older(key.created), INTERVAL + 1), anchored=_maybe_older(key.anchored))
        for key in status.keys
    )
    return status._replace(keys=keys, waiting=_maybe_older(status.waiting))


def _older(age: int) -> int:
    return min(age + 1, OLDEST)


def _maybe_older(age: Age) -> Age:
    return None if age is None else _older(age)
