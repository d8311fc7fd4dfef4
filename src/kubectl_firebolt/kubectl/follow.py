"""What happens to objects, from now on? A kubectl that watches, started again whenever it ends."""

import asyncio
import contextlib
import json
from asyncio.subprocess import PIPE, Process
from codecs import getincrementaldecoder
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Final

from kubectl_firebolt.errors import KubectlError, PluginError
from kubectl_firebolt.kubectl.invocation import Invocation, Target, list_, watch
from kubectl_firebolt.kubectl.run import MISSING, Kubectl
from kubectl_firebolt.manifest import Manifest

_AGAIN_AFTER_SECONDS: Final = 1.0
_LOOK_EVERY_SECONDS: Final = 30.0
_CHUNK: Final = 1 << 16

Seen = Callable[[str, Manifest], None]


@dataclass(slots=True)
class Followed:
    """Objects of one kind; `seen` is told ADDED, MODIFIED and DELETED, the first also after every new start."""

    kubectl: Kubectl
    target: Target
    resource: str
    selection: tuple[str, ...]
    seen: Seen
    _known: dict[str, Manifest] = field(default_factory=dict[str, Manifest])
    _has_heard: bool = False

    @property
    def watching(self) -> Invocation:
        return watch(self.target, self.resource, *self.selection)

    async def follow(self) -> None:
        """For ever; raises only if kubectl never said anything."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._watch_again_and_again(), name=f"watch {self.resource}")
            group.create_task(self._look_for_the_missing(), name=f"list {self.resource}")

    async def _watch_again_and_again(self) -> None:
        while True:
            await self._watch()
            await asyncio.sleep(_AGAIN_AFTER_SECONDS)

    async def _watch(self) -> None:
        async with started(self.kubectl, self.watching) as process:
            if process.stdout is None or process.stderr is None:
                raise RuntimeError("a process without pipes")
            async for event in documents(process.stdout):
                self._has_heard = True
                self._take(str(event.get("type")), event.get("object") or {})
            complaint = await process.stderr.read()
            if await process.wait() and not self._has_heard:
                raise KubectlError(f"{self.watching.words} failed", complaint.decode(errors="replace").strip())

    async def _look_for_the_missing(self) -> None:
        """What went while no kubectl watched is told by nobody."""
        while True:
            await asyncio.sleep(_LOOK_EVERY_SECONDS)
            known = dict(self._known)
            with contextlib.suppress(PluginError):
                found = await asyncio.to_thread(self.kubectl.items, list_(self.target, self.resource, *self.selection))
                there = {_uid(each) for each in found}
                for uid in known.keys() - there:
                    if uid in self._known:
                        self._take("DELETED", self._known[uid])

    def _take(self, kind: str, manifest: Manifest) -> None:
        if kind not in {"ADDED", "MODIFIED", "DELETED"} or "metadata" not in manifest:
            return
        if kind == "DELETED":
            self._known.pop(_uid(manifest), None)
        else:
            self._known[_uid(manifest)] = manifest
        self.seen(kind, manifest)


async def documents(stream: asyncio.StreamReader) -> AsyncGenerator[Manifest]:
    """The JSON documents that kubectl writes one after the other."""
    decoder, letters, text = json.JSONDecoder(), getincrementaldecoder("utf-8")("replace"), ""
    while chunk := await stream.read(_CHUNK):
        text += letters.decode(chunk)
        while text := text.lstrip():
            try:
                found, end = decoder.raw_decode(text)
            except ValueError:
                break  # the rest is on its way
            text = text[end:]
            yield found


@asynccontextmanager
async def started(kubectl: Kubectl, invocation: Invocation, *, stderr: int | None = PIPE) -> AsyncGenerator[Process]:
    """Ended and reaped, whatever happens."""
    try:
        process = await asyncio.create_subprocess_exec(*kubectl.command(invocation), stdout=PIPE, stderr=stderr)
    except FileNotFoundError as err:
        raise PluginError(MISSING) from err
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


def _uid(manifest: Manifest) -> str:
    return str(manifest["metadata"]["uid"])
