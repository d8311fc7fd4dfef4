"""What do people do, and when is it done?"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from firebolt_local.campaign.stories.place import Place
from firebolt_local.testing.convergence import is_at_rest, is_ready
from firebolt_local.testing.ledger import World
from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import parse_engine, parse_instance
from firebolt_operator.refs import Manifest

ENGINE: Final = "eng"
INSTANCE: Final = "inst"
CLASS: Final = "kind"
INSTANCE_SPEC: Final[Manifest] = {"id": "01CAMPAIGN", "metadata": {}, "gateway": {"replicas": 2}}


@dataclass(frozen=True, slots=True)
class Step:
    do: Callable[[Place], Awaitable[None]]
    unrest: Callable[[World], list[str]]  # why it is not done yet


def engine_rests(*, replicas: int, generation: int) -> Callable[[World], list[str]]:
    rests = is_at_rest(replicas)

    def unrest(world: World) -> list[str]:
        found = world.get((FIREBOLT_ENGINES.kind, ENGINE))
        if found is None or not found.get("status"):
            return ["the engine has no status"]
        engine = parse_engine(found)
        has_arrived = rests(engine) and engine.status.current_generation == generation
        status = engine.status
        words = f"{status.phase} on {status.current_generation} with {status.ready_replicas} pods ready"
        return [] if has_arrived else [f"the engine is {words}, not at rest on {generation} with {replicas}"]

    return unrest


def instance_rests(world: World) -> list[str]:
    found = world.get((FIREBOLT_INSTANCES.kind, INSTANCE))
    if found is None or not found.get("status"):
        return ["the instance has no status"]
    instance = parse_instance(found)
    is_seen = instance.status.observed_generation == instance.metadata.generation
    return [] if is_seen and is_ready(instance) else [f"the instance is {instance.status.phase or 'without a phase'}"]


def is_gone(kind: str, name: str) -> Callable[[World], list[str]]:
    return lambda world: [f"{kind} {name} is there"] if (kind, name) in world else []


def make_engine(replicas: int = 2, **spec: object) -> Step:
    wanted = {"instanceRef": INSTANCE, "replicas": replicas, **spec}
    return Step(
        lambda place: place.create(FIREBOLT_ENGINES, ENGINE, wanted), engine_rests(replicas=replicas, generation=0)
    )


def edit_engine(spec: Manifest, *, replicas: int = 2, generation: int = 1) -> Step:
    return Step(
        lambda place: place.edit(FIREBOLT_ENGINES, ENGINE, {"spec": spec}),
        engine_rests(replicas=replicas, generation=generation),
    )


def make_class() -> Step:
    template = {"template": {"metadata": {"labels": {"tier": "old"}}}}
    return Step(lambda place: place.create(FIREBOLT_ENGINE_CLASSES, CLASS, template), lambda _: [])


def edit_class() -> Step:
    template = {"template": {"metadata": {"labels": {"tier": "new"}}}}
    return Step(
        lambda place: place.edit(FIREBOLT_ENGINE_CLASSES, CLASS, {"spec": template}),
        engine_rests(replicas=2, generation=1),
    )


async def knock(place: Place) -> None:
    now = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")  # noqa: TID251 - what a gateway stamps is the wall clock
    await place.edit(FIREBOLT_ENGINES, ENGINE, {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: now}}})


def make_instance() -> Step:
    return Step(lambda place: place.create(FIREBOLT_INSTANCES, INSTANCE, INSTANCE_SPEC), instance_rests)


def edit_instance() -> Step:
    containers = [{"name": "metadata", "image": "metadata:next"}]
    change = {
        "metadata": {"template": {"spec": {"containers": containers}}},
        "gateway": {"template": {"metadata": {"labels": {"version": "next"}}}},
    }
    return Step(lambda place: place.edit(FIREBOLT_INSTANCES, INSTANCE, {"spec": change}), instance_rests)


def slow_image(name: str) -> Manifest:
    """Its pods take a moment to get ready: whoever does not wait for them is found out, however slow it is itself."""
    metadata = {"annotations": {"sim.firebolt.io/ready-after": "3s"}}
    return {"template": {"metadata": metadata, "spec": {"containers": [{"name": "engine", "image": name}]}}}


def remove_engine() -> Step:
    return Step(lambda place: place.delete(FIREBOLT_ENGINES, ENGINE), is_gone(FIREBOLT_ENGINES.kind, ENGINE))


def remove_instance() -> Step:
    return Step(lambda place: place.delete(FIREBOLT_INSTANCES, INSTANCE), is_gone(FIREBOLT_INSTANCES.kind, INSTANCE))
