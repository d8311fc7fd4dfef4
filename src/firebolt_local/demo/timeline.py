"""What happens to engines and instances, one line per change, with the seconds since the start."""

import asyncio
from collections.abc import Callable

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import CONDITION_READY
from firebolt_operator.api.serialise import parse_engine, parse_instance
from firebolt_operator.kube.ports import EventType
from firebolt_operator.refs import Manifest

_MOST_WORDS = 160  # characters; kubectl describe has the rest


class Timeline:
    def __init__(self, monotonic: Callable[[], float], say: Callable[[str], None] = print) -> None:
        self._monotonic = monotonic
        self._say = say
        self._began_at = monotonic()
        self._last: dict[str, str] = {}
        self._engines: dict[str, FireboltEngine] = {}
        self._instances: dict[str, FireboltInstance] = {}
        self._changed = asyncio.Event()

    def engine(self, kind: EventType, manifest: Manifest) -> None:
        engine = parse_engine(manifest)
        name = engine.metadata.name
        if kind == "DELETED":
            self._engines.pop(name, None)
            self.tell(f"engine {name}", "   deleted")
        else:
            self._engines[name] = engine
            self.tell(f"engine {name}", _engine_words(engine))
        self._changed.set()

    def instance(self, kind: EventType, manifest: Manifest) -> None:
        instance = parse_instance(manifest)
        name = instance.metadata.name
        if kind == "DELETED":
            self._instances.pop(name, None)
            self.tell(f"instance {name}", "   deleted")
        else:
            self._instances[name] = instance
            ready = find_condition(instance.status.conditions, CONDITION_READY)
            words = f"   {instance.status.phase or 'new':<28} {ready.message if ready else ''}"
            self.tell(f"instance {name}", words)
        self._changed.set()

    async def until(self, name: str, is_there: Callable[[FireboltEngine], bool]) -> None:
        await self._until(lambda: name in self._engines and is_there(self._engines[name]))

    async def until_instance(self, name: str, is_there: Callable[[FireboltInstance], bool]) -> None:
        await self._until(lambda: name in self._instances and is_there(self._instances[name]))

    def tell(self, what: str, words: str) -> None:
        """The same words about the same thing are not repeated."""
        if self._last.get(what) == words:
            return
        self._last[what] = words
        shown = words if len(words) <= _MOST_WORDS else f"{words[:_MOST_WORDS]}..."
        self._say(f"  {self._monotonic() - self._began_at:5.1f} s  {what:<18} {shown}".rstrip())

    async def _until(self, is_there: Callable[[], bool]) -> None:
        while not is_there():
            self._changed.clear()
            await self._changed.wait()


def _engine_words(engine: FireboltEngine) -> str:
    status = engine.status
    ready = find_condition(status.conditions, CONDITION_READY)
    pods = f"{status.ready_replicas}/{status.replicas} pods ready"
    return f"g{status.current_generation} {status.phase or 'new':<10} {pods:<17} {ready.message if ready else ''}"
