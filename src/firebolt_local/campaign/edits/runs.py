"""What becomes of a chain of edits? Three questions after each, and what may not happen on the way."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from firebolt_local.campaign.edits.edit import Edit
from firebolt_local.campaign.judge.comparison import differences
from firebolt_local.campaign.judge.normal import Picture
from firebolt_local.campaign.stories.place import STUCK_SECONDS, Place
from firebolt_local.campaign.stories.runs import BrokenPlaceError, clear, furnish
from firebolt_local.campaign.stories.steps import CLASS, ENGINE, INSTANCE, INSTANCE_SPEC
from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
)
from firebolt_operator.errors import ConflictError, RejectedError
from firebolt_operator.refs import Manifest, Ref

SETTLE_SECONDS: Final = 60.0
_OURS: Final = {
    FIREBOLT_ENGINE_CLASSES: CLASS,
    FIREBOLT_ENGINE_PRESETS: PRESET_NAME,
    FIREBOLT_ENGINES: ENGINE,
    FIREBOLT_INSTANCES: INSTANCE,
}
_RESOURCES: Final = {each.kind: each for each in _OURS}
NAMES: Final = {each.kind: name for each, name in _OURS.items()}
_SHARED_SPEC: Final[Manifest] = {"template": {}}
_ENGINE_SPEC: Final[Manifest] = {"instanceRef": INSTANCE, "engineClassRef": CLASS, "replicas": 1}
_SPECS: Final = {
    FIREBOLT_ENGINE_CLASSES.kind: _SHARED_SPEC,
    FIREBOLT_ENGINE_PRESETS.kind: _SHARED_SPEC,
    FIREBOLT_ENGINES.kind: _ENGINE_SPEC,
}
"""In the order in which they are made: who is referred to comes first."""
_KSTATUS: Final = ("Stalled", "Reconciling")
_ROLLED_BY: Final = ("StatefulSet", "ConfigMap", "Service")
Specs = dict[str, Manifest]
"""By kind."""


@dataclass(slots=True)
class ChainRun:
    place: Place
    specs: Specs
    problems: list[str] = field(default_factory=list[str])
    counts: Counter[str] = field(default_factory=Counter[str])
    _seen: list[tuple[Edit, Specs, Picture]] = field(default_factory=list[tuple[Edit, Specs, Picture]])

    async def run(self, chain: Sequence[Edit]) -> None:
        await self._make()
        if left := await self.place.until(lambda _: self._unready(), SETTLE_SECONDS):
            raise BrokenPlaceError(f"what is edited does not get ready by itself: {left[0]}")
        await self.place.until_quiet(SETTLE_SECONDS)
        before, original = self.place.picture(without_generations=True), dict(self.specs)
        for edit in chain:
            await self._edit(edit)
        await self._undo(original, before)
        for edit, specs, picture in self._seen:
            await self._compare_with_fresh(edit, specs, picture)
        await clear(self.place)

    async def _edit(self, edit: Edit) -> None:
        earlier, generation = self.place.picture(without_generations=True), self._generation()
        wanted = {**self.specs, edit.kind: edit.applied(self.specs[edit.kind])}
        if not await self._write(edit.kind, wanted[edit.kind]):
            self.counts["refused with a reason"] += 1
            return
        self.specs = wanted
        if not await self._settle():
            self.problems.append(f"{edit}: it does not come to rest")
            return
        picture = self.place.picture(without_generations=True)
        if self._generation() != generation and not _may_roll(edit, picture, earlier):
            self.problems.append(f"{edit}: it rolled from {generation} to {self._generation()} without need")
        self._judge_words(edit, picture)

    async def _settle(self) -> bool:
        """Whoever is not there yet gets more time: it may be about to say why, or about to get there."""
        is_quiet = await self.place.until_quiet(SETTLE_SECONDS)
        if not self._unready():
            return is_quiet
        return await self.place.until_quiet(SETTLE_SECONDS, STUCK_SECONDS)

    def _unready(self) -> list[str]:
        return [words for each in self._ours() if (words := _unready(each))]

    def _judge_words(self, edit: Edit, picture: Picture) -> None:
        unready = self._unready()
        if not unready:
            self.counts["converged"] += 1
            self._seen.append((edit, dict(self.specs), picture))
        elif all(word.strip() for word in unready):
            self.counts["said why not"] += 1
        else:
            self.problems.append(f"{edit}: not there, and nobody says why")

    async def _undo(self, original: Specs, before: Picture) -> None:
        for kind, spec in original.items():
            if self.specs[kind] != spec and not await self._write(kind, spec):
                self.counts["cannot be undone, with a reason"] += 1
                return
        self.specs = original
        left = await self.place.until(
            lambda _: _different(self.place.picture(without_generations=True), before), SETTLE_SECONDS
        )
        self.counts["undone"] += 1
        self.problems += [f"undone, but {each}" for each in left[:3]]

    async def _compare_with_fresh(self, edit: Edit, specs: Specs, wanted: Picture) -> None:
        await clear(self.place)
        self.specs = specs
        await self._make()
        left = await self.place.until(
            lambda _: _different(self.place.picture(without_generations=True), wanted), SETTLE_SECONDS
        )
        self.counts["compared with a fresh one"] += 1
        self.problems += [f"{edit}: a fresh object is different: {each}" for each in left[:3]]

    async def _make(self) -> None:
        for kind, spec in self.specs.items():
            await self.place.create(_RESOURCES[kind], NAMES[kind], spec)
        if not await self.place.until_quiet(SETTLE_SECONDS):
            raise BrokenPlaceError("what is edited does not come to rest by itself")

    async def _write(self, kind: str, spec: Manifest) -> bool:
        """Whether the API server took it."""
        ref = Ref(_RESOURCES[kind], self.place.namespace, NAMES[kind])
        while True:
            found = await self.place.client.get(ref)
            if found is None:
                raise BrokenPlaceError(f"{ref} is gone")
            try:
                await self.place.client.replace({**found, "spec": spec})
            except ConflictError:
                continue  # a status was written meanwhile
            except RejectedError as err:
                if not str(err).strip():
                    self.problems.append(f"{ref}: refused without a word")
                return False
            return True

    def _ours(self) -> list[Manifest]:
        return [self.place.world[kind, NAMES[kind]] for kind in self.specs if (kind, NAMES[kind]) in self.place.world]

    def _generation(self) -> int:
        engine = self.place.world.get((FIREBOLT_ENGINES.kind, ENGINE), {})
        generation: int = engine.get("status", {}).get("currentGeneration", -1)
        return generation


def _different(found: Picture, wanted: Picture) -> list[str]:
    return [str(each) for each in differences(found, wanted)]


def _may_roll(edit: Edit, now: Picture, before: Picture) -> bool:
    if edit.kind == FIREBOLT_ENGINE_CLASSES.kind and edit.field.path[0] == "template":
        return True  # whatever an engine makes of it: a class is rolled as a whole
    return any(name.startswith(_ROLLED_BY) for name in {each.path for each in differences(now, before)})


def _unready(manifest: Manifest) -> str:
    """Empty: it is where its spec wants it. Blank: it is not, and does not say why."""
    status: Manifest = manifest.get("status") or {}
    conditions = {each["type"]: each for each in status.get("conditions") or []}
    is_seen = status.get("observedGeneration") == manifest["metadata"].get("generation")
    is_at_rest = conditions.get("Ready", {}).get("status") == "True" and not conditions.keys() & {*_KSTATUS}
    if is_seen and is_at_rest:
        return ""
    words = [f"{each.get('reason', '')} {each.get('message', '')}" for each in conditions.values()]
    return "; ".join(words) if is_seen and words else " "


async def run_chain(place: Place, chain: Sequence[Edit]) -> ChainRun:
    is_about_engine = chain[0].kind != FIREBOLT_INSTANCES.kind
    place.watchman.arm(None)
    place.ends = 0
    await furnish(place, has_instance=is_about_engine)
    run = ChainRun(place, dict(_SPECS) if is_about_engine else {FIREBOLT_INSTANCES.kind: INSTANCE_SPEC})
    await run.run(chain)
    return run
