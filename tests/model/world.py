"""The cluster as the search sees it: a small immutable value, equal exactly when two situations are the same.

Objects are reduced to what decisions can read of them. Versions, timestamps and bodies are made up again for every
pass, so that two ways to the same situation lead to the same state.
"""

from typing import NamedTuple

GENERATIONS = 6
REPLICAS = 2
STRANGER = 99
"""The owner of what somebody made under one of our names: nobody controls it, and it carries none of our labels."""
JUST_SWITCHED, SETTLED, TIMED_OUT = 0, 1, 2
IDLE, BUSY, SILENT = "idle", "busy", "silent"


class Spec(NamedTuple):
    version: int
    is_stopped: bool


class Drain(NamedTuple):
    """How the engine drains, as long as the search lasts."""

    is_skipped: bool = False  # rollout: recreate
    has_timeout: bool = False


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
    drain: Drain = Drain()
    has_budget: bool = False  # spec.podDisruptionBudget, as long as the search lasts


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
    """Of one generation's StatefulSet: how many there are, how many of them are ready, and whether queries run."""

    total: int = 0
    ready: int = 0
    are_busy: bool = False


class Service(NamedTuple):
    owner: int
    selected: int


class Budget(NamedTuple):
    owner: int
    covered: frozenset[int]


class Children(NamedTuple):
    gens: tuple[Gen, ...] = (Gen(),) * GENERATIONS
    service: Service | None = None
    budget: Budget | None = None


class Gates(NamedTuple):
    instance: bool = True
    engine_class: bool = True
    scrape: bool = True  # pods answer when they are asked whether they are busy


class Truth(NamedTuple):
    """What the API server holds."""

    engine: Engine | None
    children: Children
    pods: tuple[Pods, ...]
    gates: Gates


class Heard(NamedTuple):
    """What the pods of a generation said when they were last asked; it is lost with the process."""

    generation: int
    owner: int  # of its StatefulSet
    total: int  # of the pods that were asked
    verdict: str
    elapsed: int  # when they were asked


class May(NamedTuple):
    """What may happen in a search at any time; all else has a budget."""

    gates_flip: bool = True
    scrapes_fail: bool = False
    pods_come_singly: bool = False
    writes_be_refused: bool = False
    answers_come_early: bool = False  # pods are asked before the settle time is over, whoever did that


class State(NamedTuple):
    truth: Truth
    seen: Truth  # what the caches of the running process hold
    suspects: frozenset[str]  # names whose last write was not answered
    elapsed: int  # since the last switch: just switched, settled, timed out
    last_uid: int
    edits_left: int
    births_left: int
    losses_left: int = 0  # children that people delete or edit
    strangers_left: int = 0  # objects that people make under our names
    is_disturbed: bool = False  # people have changed children: not all that is missing is our fault
    may: May = May()
    heard: Heard | None = None


UNSET = Status("", 0, -1, None, 0, None, "")


def initial(drain: Drain = Drain(), may: May = May()) -> State:  # noqa: B008 - immutable
    spec = Spec(0, is_stopped=False)
    engine = Engine(uid=1, spec=spec, has_finalizer=False, is_deleting=False, status=UNSET, drain=drain)
    truth = Truth(engine, Children(), (Pods(),) * GENERATIONS, Gates())
    return State(truth, truth, frozenset(), JUST_SWITCHED, last_uid=1, edits_left=2, births_left=1, may=may)


def asked(state: State, generation: int) -> State:
    """The pods of that generation are asked now, and all of them answer or fail to."""
    truth, sts = state.truth, state.truth.children.gens[generation].sts
    pods = truth.pods[generation]
    if sts is None or not pods.total:
        return state
    verdict = SILENT if not truth.gates.scrape else BUSY if pods.are_busy else IDLE
    return state._replace(heard=Heard(generation, sts.owner, pods.total, verdict, state.elapsed))


def with_gen(children: Children, generation: int, gen: Gen) -> Children:
    gens = children.gens
    return children._replace(gens=(*gens[:generation], gen, *gens[generation + 1 :]))


def with_pods(pods: tuple[Pods, ...], generation: int, new: Pods) -> tuple[Pods, ...]:
    return (*pods[:generation], new, *pods[generation + 1 :])


def serving(status: Status) -> int:
    """Where queries belong, as long as nobody switches."""
    return status.active if status.active >= 0 else status.current
