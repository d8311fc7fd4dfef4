"""A recording as a demo makes it, without a cluster: believable numbers, the same every time."""

import random

from kubectl_firebolt.picture.answers import Answer
from kubectl_firebolt.picture.recording import (
    GenerationSpan,
    Highlight,
    Note,
    PhaseSpan,
    PodSpan,
    Recording,
    Serving,
    Step,
    Told,
)

OLD = "ghcr.io/firebolt-db/engine:release-5.0.1"
NEW = "ghcr.io/firebolt-db/engine:release-5.0.2"
SECONDS = 152.0
TOLD = Told(
    kicker="firebolt-operator demo",
    began="2026-03-04 10:20 UTC",
    since="the instance was created",
    story="an engine went from 2 to 3 nodes, got a new image, was parked when nobody asked, and woken by a query.",
    highlights=[
        Highlight(value="6.2 s", label="from parked to answered"),
        Highlight(value="1.3 s", label="until the new image got all queries"),
    ],
    facts=["Kubernetes 1.36.3, one node, 2 processors", "drain settle 10 s: the cluster's DNS answers live 5 s"],
)


def a_recording(*, failures: int = 0) -> Recording:
    return Recording(
        engine="analytics",
        seconds=SECONDS,
        told=TOLD,
        steps=_steps(),
        phases=_phases(),
        serving=[
            Serving(generation=0, began_at=26, ended_at=46),
            Serving(generation=1, began_at=46, ended_at=78),
            Serving(generation=2, began_at=78, ended_at=121),
            Serving(generation=3, began_at=121, ended_at=136),
            Serving(generation=4, began_at=136, ended_at=SECONDS),
        ],
        generations=[
            GenerationSpan(number=0, replicas=2, image=OLD, began_at=21, ended_at=58),
            GenerationSpan(number=1, replicas=3, image=OLD, began_at=40, ended_at=90),
            GenerationSpan(number=2, replicas=3, image=NEW, began_at=70, ended_at=125),
            GenerationSpan(number=3, replicas=0, image=NEW, began_at=120, ended_at=138),
            GenerationSpan(number=4, replicas=3, image=NEW, began_at=131),
        ],
        pods=_pods(),
        notes=[
            Note(at=46, text="g1 ready: queries switched"),
            Note(at=58, text="g0 deleted"),
            Note(at=78, text="new image ready: queries switched"),
            Note(at=90, text="g1 deleted"),
            Note(at=121, text="idle: parked"),
            Note(at=130, text="a query arrives, and is held"),
            Note(at=136.2, text="answered"),
        ],
        answers=_answers(failures),
    )


def _steps() -> list[Step]:
    rows = (
        ("instance", "An instance: PostgreSQL, metadata service, gateway", 0, 21, "Ready after 20.6 s"),
        ("engine", "An engine of two nodes", 21, 28, "Two pods ready after 5.1 s"),
        ("query", "A query through the gateway", 28, 29, "SELECT 42 answered 42 in 31 ms"),
        ("load", "50 queries per second from here on", 29, 40, "523 queries, 0 failed"),
        ("scale to 3", "Three nodes instead of two, under load", 40, 70, "900 queries, 0 failed"),
        ("new image", "Another image, under load", 70, 100, "1,000 queries, 0 failed"),
        ("park", "Nobody asks any more", 100, 130, "Parked after 20 s without a query"),
        ("wake", "One query for the parked engine", 130, 137, "Held, then answered after 6.2 s"),
        ("load", "50 queries per second again", 137, 152, "700 queries, 0 failed"),
    )
    return [
        Step(name=name, title=title, began_at=began, ended_at=ended, outcome=outcome)
        for name, title, began, ended, outcome in rows
    ]


def _phases() -> list[PhaseSpan]:
    rows: tuple[tuple[str, float], ...] = (
        ("creating", 21),
        ("stable", 26.3),
        ("creating", 40),
        ("switching", 45.7),
        ("draining", 46.1),
        ("cleaning", 57),
        ("stable", 58),
        ("creating", 70),
        ("switching", 77.6),
        ("draining", 78),
        ("cleaning", 89),
        ("stable", 90),
        ("creating", 120),
        ("draining", 121),
        ("cleaning", 124.4),
        ("stopped", 125),
        ("creating", 131),
        ("stable", 136.4),
    )
    ends = [began for _, began in rows[1:]] + [SECONDS]
    return [
        PhaseSpan(phase=phase, began_at=began, ended_at=end) for (phase, began), end in zip(rows, ends, strict=True)
    ]


def _pods() -> list[PodSpan]:
    instance = [
        PodSpan(name="demo-gateway-6c9d8f7b5-x2x8p", generation=None, began_at=11, ready_at=15),
        PodSpan(name="demo-metadata-7b5f66dd9c-k4vzl", generation=None, began_at=8, ready_at=11),
        PodSpan(name="demo-metadata-pg-0", generation=None, began_at=1, ready_at=8),
    ]
    lives = (
        (0, 2, 21, 26, 57, 58),
        (1, 3, 40, 45.5, 89, 90.4),
        (2, 3, 70, 77.5, 123, 124),
        (4, 3, 131, 136, None, None),
    )
    return instance + [
        PodSpan(
            name=f"analytics-g{number}-{index}",
            generation=number,
            began_at=began + index * 0.2,
            ready_at=ready + index * 0.3 - 0.7,
            ending_at=ending,
            ended_at=None if ended is None else ended + index * 0.4,
        )
        for number, count, began, ready, ending, ended in lives
        for index in range(count)
    ]


def _answers(failures: int) -> list[Answer]:
    chance = random.Random(7)
    alone = [_answer(28.2, 0.031, "analytics-g0-0"), _answer(130, 6.2, "analytics-g4-1")]
    moments = [29 + tick / 50 for tick in range(50 * 71)]
    made = alone + [_answer(at, chance.lognormvariate(-5.4, 0.45), _server(at, chance)) for at in moments]
    made += [_answer(137 + tick / 50, chance.lognormvariate(-5.4, 0.45), "analytics-g4-0") for tick in range(50 * 15)]
    failed = [Answer(due_at=47, seconds=0.2, status=503, problem="HTTP 503: no healthy upstream")] * failures
    return made + failed


def _answer(due_at: float, seconds: float, pod: str) -> Answer:
    return Answer(due_at=due_at, seconds=seconds, status=200, pod=pod)


def _server(at: float, chance: random.Random) -> str:
    generation = 0 if at < 46 + chance.random() else 1 if at < 78 + chance.random() else 2
    return f"analytics-g{generation}-{chance.randrange(2)}"
