"""Of which chapters does the story consist?"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.stories.logins import (
    change_password,
    make_instance_elsewhere,
    make_instance_with_keys,
    make_login,
    rotate,
)
from firebolt_local.campaign.stories.steps import (
    CLASS,
    Step,
    edit_class,
    edit_engine,
    edit_instance,
    engine_rests,
    knock,
    make_class,
    make_engine,
    make_instance,
    remove_engine,
    remove_instance,
    slow_image,
)
from firebolt_local.errors import LocalError

_OF_INSTANCE: Final[Mapping[str, bool]] = {"has_instance": False, "is_about_engine": False}
_ASLEEP: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "1h", "pollInterval": "1s"}
_SLEEPY: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "1s", "pollInterval": "1s"}


@dataclass(frozen=True, slots=True)
class Chapter:
    name: str
    before: tuple[Step, ...]
    step: Step
    has_instance: bool = True  # the place has one; otherwise the chapter makes its own
    is_about_engine: bool = True  # whose queries must find it all the time
    needs_certificates: bool = False  # that cert-manager issues
    is_slow: bool = False  # it waits, and for longer than it works: only the harms that differ are tried


CHAPTERS: Final = (
    Chapter("create", (), make_engine()),
    Chapter("scale", (make_engine(),), edit_engine({"replicas": 3}, replicas=3)),
    Chapter("image", (make_engine(),), edit_engine(slow_image("engine:next"))),
    Chapter("class", (make_class(), make_engine(engineClassRef=CLASS)), edit_class()),
    Chapter("stop", (make_engine(),), edit_engine({"replicas": 0}, replicas=0)),
    Chapter("park", (make_engine(),), edit_engine({"autoStop": _SLEEPY}, replicas=0)),
    Chapter("wake", (make_engine(0, autoStop=_ASLEEP),), Step(knock, engine_rests(replicas=2, generation=1))),
    Chapter("delete", (make_engine(),), remove_engine()),
    Chapter("instance-create", (), make_instance(), **_OF_INSTANCE),
    Chapter("instance-edit", (make_instance(),), edit_instance(), **_OF_INSTANCE),
    Chapter("password", (make_login(), make_instance_elsewhere()), change_password(), **_OF_INSTANCE),
    Chapter(
        "rotate",
        (make_login(), make_instance_with_keys(), make_engine()),
        rotate(),
        has_instance=False,
        needs_certificates=True,
        is_slow=True,
    ),
    Chapter("instance-delete", (make_instance(),), remove_instance(), **_OF_INSTANCE),
)


def chapter(name: str) -> Chapter:
    found = next((each for each in CHAPTERS if each.name == name), None)
    if found is None:
        raise LocalError(f"there is no chapter {name!r}; there are {', '.join(each.name for each in CHAPTERS)}")
    return found
