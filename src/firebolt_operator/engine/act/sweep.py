"""Reclaims generations that nothing refers to any more: missed deletes, crashes, abandoned attempts.

Candidates come from the caches and cost nothing. Only a candidate is confirmed, with live reads of the status first and
of the object then, because what a cache tells about a status may be older than the generation it would condemn.
"""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES, SERVICES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.act.writes import delete_child
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engine.plan import Delete
from firebolt_operator.engine.views import Child, generation_number
from firebolt_operator.errors import FencedError, OperatorError
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.indexes import BY_ENGINE, term
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.live import fetch_live

MOST_DELETES = 100
MOST_FAILURES_PER_KIND = 3


@dataclass(frozen=True, slots=True)
class Keep:
    """Which generations stay. What is not older than the newest of them is never touched: it would mean that this
    view is the stale one, and destroying the generation being built feeds itself for ever.
    """

    generations: frozenset[int]
    floor: int

    def allows(self, generation: int | None) -> bool:
        return generation is None or generation in self.generations or generation >= self.floor


@dataclass(frozen=True, slots=True)
class SweepResult:
    deleted: int = 0
    errors: tuple[OperatorError, ...] = ()
    has_backlog: bool = False


NOTHING_TO_SWEEP = SweepResult()


def keep_set(status: EngineStatus, selected: str) -> Keep:
    """The selected generation is kept exactly, but raises no floor: a Service left over from an earlier engine of the
    same name may select a huge number, and would put the living generation below the floor.
    """
    own = {status.current_generation, status.active_generation, status.draining_generation or 0}
    wanted = {status.current_generation, status.active_generation, status.draining_generation}
    routed = generation_number(selected)
    kept = {generation for generation in (*wanted, routed) if generation is not None and generation >= 0}
    return Keep(frozenset(kept), floor=max(0, *own))


def is_candidate(child: Child, keep: Keep, uid: str) -> bool:
    """Labels prove nothing: only what this very engine owns, and has not been told to go yet."""
    return not keep.allows(child.generation) and not child.metadata.is_deleting and child.is_of_engine(uid)


@dataclass(frozen=True, slots=True)
class Sweeper:
    caches: EngineCaches
    reader: Reader
    writer: Writer

    async def sweep(self, engine: FireboltEngine) -> SweepResult:
        """`engine` is how this pass left it, so that what the pass abandoned goes at once."""
        suspects = self._candidates(engine, keep_set(engine.status, self._cached_selector(engine)))
        if not suspects:
            return NOTHING_TO_SWEEP
        try:
            keep = await self._live_keep_set(engine)
        except FencedError:
            raise
        except OperatorError as err:
            return SweepResult(errors=(err,), has_backlog=True)
        if keep is None:
            return NOTHING_TO_SWEEP
        return await self._delete_all(engine, suspects, keep)

    def _candidates(self, engine: FireboltEngine, keep: Keep) -> list[Delete]:
        key = term(engine.metadata.namespace, engine.metadata.name)
        return [
            Delete(cache.resource, child)
            for cache in self.caches.children()
            for child in cache.by_index(BY_ENGINE, key)
            if is_candidate(child, keep, engine.metadata.uid)
        ]

    def _cached_selector(self, engine: FireboltEngine) -> str:
        name = names.engine_service_name(engine.metadata.name)
        service = self.caches.services.get((engine.metadata.namespace, name))
        return _selector(service.spec if service else {})

    async def _live_keep_set(self, engine: FireboltEngine) -> Keep | None:
        """Status and selector through the same live reads: a mixed view could hide the generation that serves."""
        metadata = engine.metadata
        live = await self.reader.get(Ref(FIREBOLT_ENGINES, metadata.namespace, metadata.name))
        if live is None or live["metadata"]["uid"] != metadata.uid:
            return None
        service = await self.reader.get(Ref(SERVICES, metadata.namespace, names.engine_service_name(metadata.name)))
        return keep_set(parse_engine(live).status, _selector((service or {}).get("spec", {})))

    async def _delete_all(self, engine: FireboltEngine, suspects: list[Delete], keep: Keep) -> SweepResult:
        deleted, errors, failures = 0, list[OperatorError](), dict[Resource, int]()
        for suspect in suspects[:MOST_DELETES]:
            if failures.get(suspect.resource, 0) >= MOST_FAILURES_PER_KIND:
                continue
            try:
                deleted += await self._delete_confirmed(suspect, keep, engine.metadata.uid)
            except FencedError:
                raise
            except OperatorError as err:
                errors.append(err)
                failures[suspect.resource] = failures.get(suspect.resource, 0) + 1
        has_backlog = bool(errors) or len(suspects) > MOST_DELETES
        return SweepResult(deleted, tuple(errors), has_backlog)

    async def _delete_confirmed(self, suspect: Delete, keep: Keep, uid: str) -> int:
        metadata = suspect.child.metadata
        ref = Ref(suspect.resource, metadata.namespace, metadata.name)
        child = await fetch_live(self.caches.child_cache(suspect.resource), self.reader, ref)
        if child is None or not is_candidate(child, keep, uid):
            return 0
        await delete_child(self.writer, Delete(suspect.resource, child))
        return 1


def _selector(service_spec: dict[str, object]) -> str:
    selector = service_spec.get("selector")
    return str(selector.get(names.LABEL_GENERATION, "")) if isinstance(selector, dict) else ""
