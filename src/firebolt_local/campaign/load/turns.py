"""What is asked of an engine under load, what goes wrong on the way, and how a line says both?"""

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firebolt_local.campaign.faults.cases import OF_EVENTS, OF_WRITES
from firebolt_local.campaign.faults.fault import OF_PROCESSES, Fault, Harm, fault, is_possible
from firebolt_local.campaign.faults.requests import BY_THE_CLOCK, RequestName
from firebolt_local.campaign.proxy.recording import Choice
from firebolt_local.errors import LocalError
from firebolt_local.images.standin_images import ENGINE as FIRST_IMAGE
from firebolt_local.images.standin_images import ENGINE_NEXT
from firebolt_operator.refs import Manifest

LOAD_LINE: Final = "load-"
_SHARE: Final = 0.02  # of requests and events that something happens to
_ANYTHING: Final = (*(harm for harm in OF_WRITES if harm not in OF_PROCESSES), *OF_EVENTS, Harm.LATE)
"""The process lives through all of it: what it hoards would be gone with it."""
_PARKING: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "5s", "pollInterval": "1s"}
STAYING: Final = {"enabled": True, "activeReplicas": 2, "idleTimeout": "1h", "pollInterval": "1s"}


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that is asked of the engine, and how many nodes it has afterwards."""

    name: str
    spec: Manifest
    replicas: int
    is_asked_meanwhile: bool  # nobody asks a parked engine, or it would not stay parked

    def line(self, number: int) -> str:
        """`number`: from 0."""
        return f"{self.name}: {Harm.KILL_AFTER} write {number + 1}"


def _image(name: str) -> Manifest:
    return {"template": {"spec": {"containers": [{"name": "engine", "image": name}]}}}


def rolling(image: str) -> Turn:
    return Turn("load-anything", _image(image), 2, is_asked_meanwhile=True)


TURNS: Final = (
    Turn("load-rollout", _image(ENGINE_NEXT), 2, is_asked_meanwhile=True),
    Turn("load-park", {"autoStop": _PARKING}, 0, is_asked_meanwhile=False),
    Turn("load-wake", {"autoStop": STAYING}, 2, is_asked_meanwhile=True),
    Turn("load-back", _image(FIRST_IMAGE), 2, is_asked_meanwhile=True),
)
"""One after the other; the last leads back to where the first begins."""
_STRUCK: Final = re.compile(rf"({'|'.join(turn.name for turn in TURNS)}): {Harm.KILL_AFTER} write ([1-9]\d*)")
_AT_RANDOM: Final = re.compile(r"load-anything: (\d+(?:\.\d+)?) s of seed (\d+)")


@dataclass(frozen=True, slots=True)
class Asked:
    """Of a run under load."""

    kills: tuple[str, ...] | None = None  # their lines, as often as each is asked for; None: all
    seconds: float = 0.0  # of random faults
    seed: int = 1

    def times(self, line: str) -> int:
        return 1 if self.kills is None else self.kills.count(line)


def parse_asked(lines: Sequence[str]) -> Asked:
    """Of those that a report prints."""
    kills = tuple(line for line in lines if _STRUCK.fullmatch(line))
    others = [(line, _AT_RANDOM.fullmatch(line)) for line in lines if line not in kills]
    for line, at_random in others:
        if at_random is None:
            raise LocalError(f"{line!r} is nothing that happens under load; write for example {TURNS[0].line(2)!r}")
    _, last = others[-1] if others else ("", None)
    return Asked(kills) if last is None else Asked(kills, float(last[1]), int(last[2]))


def at_random_line(asked: Asked) -> str:
    return f"load-anything: {asked.seconds:g} s of seed {asked.seed}"


def kill_at(number: int) -> Choice:
    """After the write of that number, from 0."""
    left = [number]

    def choose(name: RequestName) -> Fault | None:
        if not name.of.is_mutating or name.of.kind in BY_THE_CLOCK:
            return None
        left[0] -= 1
        return fault(Harm.KILL_AFTER, name) if left[0] == -1 else None

    return choose


def anything(rng: random.Random) -> Choice:
    def choose(name: RequestName) -> Fault | None:
        harms = [harm for harm in _ANYTHING if is_possible(harm, name.of)]
        is_struck = bool(harms) and name.of.kind not in BY_THE_CLOCK and rng.random() < _SHARE
        return fault(rng.choice(harms), name) if is_struck else None

    return choose
