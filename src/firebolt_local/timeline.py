"""What happens to engines and instances, one line per change, with the seconds since the start."""

import asyncio
from collections.abc import Callable

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import CONDITION_READY
from firebolt_operator.api.serialise import parse_engine, parse_instance
from firebolt_operator.kube.ports import EventType
from firebolt_operator.refs import Manifest


class Timeline:
    def __init__(self, monotonic: Callable[[], float], say: Callable[[str], None] = print) -> None:
        self._monotonic = monotonic
        self._say = say
        self._began_at = monotonic()
        self._last: dict[str, str] = {}
        self._engines: dict[str, FireboltEngine] = {}
        self._changed = asyncio.Event()

    def engine(self, kind: EventType, manifest: Manifest) -> None:
        engine = parse_engine(manifest)
        if kind == "DELETED":
            self._tell(f"engine {engine.metadata.name}", "   deleted")
            return
        self._engines[engine.metadata.name] = engine
        status = engine.status
        ready = find_condition(status.conditions, CONDITION_READY)
        pods = f"{status.ready_replicas}/{status.replicas} pods ready"
        words = f"g{status.current_generation} {status.phase or 'new':<10} {pods:<17} {ready.message if ready else ''}"
        self._tell(f"engine {engine.metadata.name}", words)
        self._changed.set()

    def instance(self, kind: EventType, manifest: Manifest) -> None:
        instance = parse_instance(manifest)
        if kind == "DELETED":
            self._tell(f"instance {instance.metadata.name}", "   deleted")
            return
        ready = find_condition(instance.status.conditions, CONDITION_READY)
        message = ready.message if ready else ""
        self._tell(f"instance {instance.metadata.name}", f"   {instance.status.phase or 'new':<28} {message}")

    async def until(self, name: str, is_there: Callable[[FireboltEngine], bool]) -> None:
        while name not in self._engines or not is_there(self._engines[name]):
            self._changed.clear()
            await self._changed.wait()

    def _tell(self, what: str, words: str) -> None:
        if self._last.get(what) == words:
            return
        self._last[what] = words
        self._say(f"  {self._monotonic() - self._began_at:5.1f} s  {what:<18} {words}".rstrip())
