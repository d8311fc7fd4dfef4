"""The cluster as the search sees it: a small immutable value, equal exactly when two situations are the same.

Objects are reduced to what decisions can read of them. Versions, timestamps and bodies are made up again for every
pass, so that two ways to the same situation lead to the same state.
"""

from typing import NamedTuple

GENERATIONS = 5


class Spec(NamedTuple):
    version: int
    is_stopped: bool


class Status(NamedTuple):
    phase: str
    current: int
    active: int
    draining: int | None
    observed: int
    instance_ready: bool | None
    ready_reason: str
    standing: str = ""  # Stalled, Reconciling, or neither


class Engine(NamedTuple):
    uid: int
    spec: Spec
    has_finalizer: bool
    is_deleting: bool
    status: Status


class Sts(NamedTuple):
    owner: int
    spec: Spec
    is_deleting: bool


class Gen(NamedTuple):
    """The objects of one generation; owners are engine uids, 0 for absent."""

    sts: Sts | None = None
    config_map: int = 0
    headless: int = 0


class Pods(NamedTuple):
    """Of one generation's StatefulSet."""

    exist: bool = False
    are_ready: bool = False
    are_busy: bool = False


class Service(NamedTuple):
    owner: int
    selected: int


class Children(NamedTuple):
    gens: tuple[Gen, ...] = (Gen(),) * GENERATIONS
    service: Service | None = None


class Gates(NamedTuple):
    instance: bool = True
    engine_class: bool = True


class Truth(NamedTuple):
    """What the API server holds."""

    engine: Engine | None
    children: Children
    pods: tuple[Pods, ...]
    gates: Gates


class State(NamedTuple):
    truth: Truth
    seen: Truth  # what the caches of the running process hold
    suspects: frozenset[str]  # names whose last write was not answered
    is_settled: bool  # the settle time has passed since the last switch
    last_uid: int
    edits_left: int
    births_left: int


UNSET = Status("", 0, -1, None, 0, None, "")


def initial() -> State:
    engine = Engine(uid=1, spec=Spec(0, is_stopped=False), has_finalizer=False, is_deleting=False, status=UNSET)
    truth = Truth(engine, Children(), (Pods(),) * GENERATIONS, Gates())
    return State(truth, truth, frozenset(), is_settled=False, last_uid=1, edits_left=2, births_left=1)


def with_gen(children: Children, generation: int, gen: Gen) -> Children:
    gens = children.gens
    return children._replace(gens=(*gens[:generation], gen, *gens[generation + 1 :]))


def with_pods(pods: tuple[Pods, ...], generation: int, new: Pods) -> tuple[Pods, ...]:
    return (*pods[:generation], new, *pods[generation + 1 :])
