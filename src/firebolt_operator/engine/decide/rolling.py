"""How many engines roll at a time because of one and the same thing? The others wait, in the order of their names.

A new default image or an edited class concerns many engines at once. What a person asks of one engine concerns nobody
else: it is not counted, and waits for nobody.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.api.names import CONTAINER_ENGINE, EnginePhase, EngineReason
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.refs import Manifest

AT_REST = frozenset({EnginePhase.STABLE, EnginePhase.STOPPED})


class Standing(Enum):
    ROLLING = "rolling"  # also one that is stalled: it keeps its place, so that a bad class stops by itself
    WAITING = "waiting"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Of one engine, among those that roll or wait for the same cause."""

    cause: str = ""  # empty: it concerns nobody else, and need not wait
    has_room: bool = True


UNLIMITED = Turn()


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What a generation would be made from now, as far as others share it."""

    spec_generation: int  # of the engine
    class_name: str  # with its namespace; empty without a class
    class_version: str
    default_image: str  # empty where a template names an image

    def cause(self, status: EngineStatus, live_image: str) -> str:
        """Why an engine that has drifted rolls together with others; empty if it does so by itself."""
        # Unless an engine has rested since the limit was set, the generation that its status speaks of is all there is.
        settled = status.settled_generation or status.observed_generation
        if settled != self.spec_generation:
            return ""
        if self.default_image and live_image != self.default_image:
            return f"default image {self.default_image}"
        return f"class {self.class_name}" if self.class_version != status.settled_class else ""

    def settled(self, status: EngineStatus) -> EngineStatus:
        """What runs was compared with this, and is the same."""
        return msgspec.structs.replace(
            status, settled_generation=self.spec_generation, settled_class=self.class_version
        )


def origin_of(
    spec: EngineSpec, engine_class: ClassInfo | None, *, namespace: str, generation: int, default_image: str
) -> Origin:
    is_named = engine_image(spec.template) or (engine_class and engine_image(engine_class.spec.template))
    return Origin(
        spec_generation=generation,
        class_name=f"{namespace}/{engine_class.name}" if engine_class else "",
        class_version=f"{engine_class.name}/{engine_class.generation}" if engine_class else "",
        default_image="" if is_named else default_image,
    )


def engine_image(template: Manifest | None) -> str:
    """Of the engine's container, in a pod template or in what a StatefulSet has of one."""
    containers = mappings(mapping(mapping(template).get("spec")).get("containers"))
    return next((text(each.get("image")) for each in containers if each.get("name") == CONTAINER_ENGINE), "")


def standing(status: EngineStatus) -> Standing | None:
    """An engine that cannot get on for another reason waits for that, and keeps nobody behind it waiting."""
    if not status.rollout_cause:
        return None
    if status.phase not in AT_REST:
        return Standing.ROLLING
    found = find_condition(status.conditions, names.CONDITION_RECONCILING)
    return Standing.WAITING if found is not None and found.reason == EngineReason.QUEUED else None


def has_room(me: tuple[str, str], others: Iterable[tuple[tuple[str, str], Standing]], most: int) -> bool:
    """Whether there is a place for this one, and for all who wait and come before it by name."""
    taken = sum(their is Standing.ROLLING or key < me for key, their in others)
    return taken < most
