"""How many engines roll at a time because of one and the same thing? The others wait, in the order of their names.

A new default image or an edited class concerns many engines at once. What a person asks of one engine concerns nobody
else: it is not counted, and waits for nobody.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import EngineSpec, EngineStatus
from firebolt_operator.api.names import PRESET_NAME, EnginePhase, EngineReason
from firebolt_operator.engine.inputs import ClassInfo, PresetInfo
from firebolt_operator.manifests.template_images import effective_engine_image

PATIENCE = 60.0
"""Seconds. Whoever waits is looked at every 30 s, and starts as soon as it may."""
REMEMBERED = ("settled_generation", "settled_class", "settled_preset", "rollout_cause")
"""Fields of the status that the limit cannot do without."""
NEIGHBOURLY = 1800.0
"""Seconds. For as long an engine takes a place from those of other namespaces; its owner cannot make it longer."""
AT_REST = frozenset({EnginePhase.STABLE, EnginePhase.STOPPED})


class Standing(Enum):
    ROLLING = "rolling"  # also one that is stalled: it keeps its place, so that a bad class stops by itself
    OVERDUE = "overdue"  # the same, in another namespace, and for longer than neighbours wait for each other
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
    preset_name: str = ""  # with its namespace; there may have been one
    preset_version: str = ""

    def cause(self, status: EngineStatus, live_image: str) -> str:
        """Why an engine that has drifted rolls together with others; empty if it does so by itself."""
        # Unless an engine has rested since the limit was set, the generation that its status speaks of is all there is.
        settled = status.settled_generation or status.observed_generation
        if settled != self.spec_generation:
            return ""
        if self.default_image and live_image != self.default_image:
            return f"default image {self.default_image}"
        if self.class_version != status.settled_class:
            return f"class {self.class_name}"
        return f"preset {self.preset_name}" if self.preset_version != status.settled_preset else ""

    def status_at_rest(self, status: EngineStatus) -> EngineStatus:
        """What runs was compared with this, and is the same."""
        return msgspec.structs.replace(
            status,
            settled_generation=self.spec_generation,
            settled_class=self.class_version,
            settled_preset=self.preset_version,
        )


def origin_of(
    spec: EngineSpec,
    engine_class: ClassInfo | None,
    preset: PresetInfo | None = None,
    *,
    namespace: str,
    generation: int,
    default_image: str,
) -> Origin:
    layers = (spec, *(each.spec for each in (preset, engine_class) if each is not None))
    is_named = effective_engine_image((layer.template for layer in layers), "")
    return Origin(
        spec_generation=generation,
        class_name=_class_name(engine_class, namespace) if engine_class else "",
        class_version=_class_version(engine_class) if engine_class else "",
        default_image="" if is_named else default_image,
        preset_name=f"{namespace}/{PRESET_NAME}",
        preset_version=str(preset.generation) if preset else "",
    )


def _class_name(engine_class: ClassInfo, namespace: str) -> str:
    """Engines of all namespaces roll together for a class of the cluster."""
    return f"{namespace}/{engine_class.name}" if engine_class.is_namespaced else engine_class.name


def _class_version(engine_class: ClassInfo) -> str:
    version = f"{engine_class.name}/{engine_class.generation}"
    return version if engine_class.is_namespaced else f"{engine_class.kind}/{version}"


def standing_of(status: EngineStatus) -> Standing | None:
    """An engine that cannot get on for another reason waits for that, and keeps nobody behind it waiting."""
    if not status.rollout_cause:
        return None
    if status.phase not in AT_REST:
        return Standing.ROLLING
    found = find_condition(status.conditions, names.CONDITION_RECONCILING)
    return Standing.WAITING if found is not None and found.reason == EngineReason.QUEUED else None


def gets_on(waited_at: float, now: float) -> bool:
    """Whether an engine that last had to wait then will start when it may. Nobody waits behind one that does not: its
    writes are refused, say, or nothing may be changed in its namespace.
    """
    return now - waited_at < PATIENCE


def is_overdue(since: float, now: float) -> bool:
    return now - since >= NEIGHBOURLY


def has_room(me: tuple[str, str], others: Iterable[tuple[tuple[str, str], Standing]], most: int) -> bool:
    """Whether there is a place for this one, and for all who wait, may start, and come before it by name.

    Who is overdue takes places of its own namespace only, and so keeps those who wait there from starting.
    """
    rolling, overdue, ahead = Counter[str](), Counter[str](), Counter[str]()
    for (namespace, name), their in others:
        if their is Standing.ROLLING:
            rolling[namespace] += 1
        elif their is Standing.OVERDUE:
            overdue[namespace] += 1
        elif (namespace, name) < me:
            ahead[namespace] += 1
    starting = sum(min(ahead[each], max(most - rolling[each] - overdue[each], 0)) for each in ahead)
    return rolling.total() + starting < most
