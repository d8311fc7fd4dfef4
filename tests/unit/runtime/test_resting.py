"""When is a pass not run? Only if it would read what the last one read, and that one neither did nor asked anything."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from firebolt_operator.errors import TransientError, UnreadableError
from firebolt_operator.evidence import gathering, spoil, still_holds
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Outcome
from firebolt_operator.runtime.resting import RestingPasses
from tests.unit.runtime.builders import PODS, Pod, a_body, an_event, decode_pod, pod_ref

KEY = ("ns", "a")
OTHER = ("ns", "b")
BY_PHASE = "phase"
SETTLED = Outcome("at rest", is_settled=True)
Read = Callable[[Cache[Pod]], object]


def a_cache(*bodies: bytes) -> Cache[Pod]:
    cache: Cache[Pod] = Cache(PODS, decode_pod, indexes={BY_PHASE: lambda pod: [pod.status.phase]})
    listing = cache.begin_list("", 10)
    for body in bodies:
        cache.listed(listing, body)
    cache.end_list(listing)
    return cache


@dataclass
class Setting:
    """Passes that do what the test says, and are counted."""

    step: Callable[[], Awaitable[Outcome]]
    runs: int = 0
    confirmed: list[str] = field(default_factory=list[str])
    passes: RestingPasses[str] = field(init=False)

    def __post_init__(self) -> None:
        self.passes = RestingPasses(self._reconcile, self.confirmed.append)

    async def _reconcile(self, _key: str) -> Outcome:
        self.runs += 1
        return await self.step()

    async def run(self, times: int = 1) -> int:
        """How many of them were really run."""
        before = self.runs
        for _ in range(times):
            await self.passes.run("eng")
        return self.runs - before


def reading(cache: Cache[Pod], read: Read, outcome: Outcome = SETTLED) -> Setting:
    async def step() -> Outcome:
        try:
            read(cache)
        except UnreadableError:
            return outcome
        return outcome

    return Setting(step)


def looked_up(cache: Cache[Pod]) -> object:
    return cache.get(KEY)


READS: dict[str, Read] = {
    "get": looked_up,
    "known": lambda cache: cache.known(KEY),
    "version": lambda cache: cache.version(KEY),
    "by_index": lambda cache: cache.by_index(BY_PHASE, "Running"),
    "is_suspect": lambda cache: cache.is_suspect(KEY),
    "set_aside": lambda cache: cache.set_aside("ns"),
    "values": lambda cache: cache.values(),
    "broken": lambda cache: cache.broken,
    "__len__": len,
}
NO_CONTENT = {
    "is_first_list",  # who asks is told so by the cache itself
    "is_synced",
    "watermark",
}
NO_READS = {
    "begin_list",
    "decode",
    "deleted",
    "end_list",
    "expect_list",
    "listed",
    "observed",
    "subscribe",
    "subscribe_aside",
    "unanswered",
    "watched",
    "written",
}


def test_every_way_to_read_a_cache_is_tried_here() -> None:
    """Whoever adds one must say whether a pass can rest on it, and note it."""
    public = {name for name in dir(Cache) if not name.startswith("_")} | {"__len__"}
    assert public == READS.keys() | NO_CONTENT | NO_READS


CHANGES: dict[str, Callable[[Cache[Pod]], object]] = {
    "changed": lambda cache: cache.watched("", an_event("MODIFIED", a_body("a", 20, phase="Running"))),
    "gone": lambda cache: cache.watched("", an_event("DELETED", a_body("a", 20))),
    "written by us": lambda cache: cache.written(pod_ref(), a_body("a", 20)),
    "deleted by us": lambda cache: cache.deleted(pod_ref(), "uid-a"),
    "unreadable": lambda cache: cache.watched("", an_event("MODIFIED", a_body("a", 20, phase=7))),
    "relisted otherwise": lambda cache: relisted(cache, a_body("a", 20)),
    "found gone": lambda cache: cache.observed(pod_ref(), None, since=1),
    "gone back in time": lambda cache: relisted(cache, a_body("a", 1), version=5),
}


def relisted(cache: Cache[Pod], *bodies: bytes, version: int = 30) -> None:
    listing = cache.begin_list("", version)
    for body in bodies:
        cache.listed(listing, body)
    cache.end_list(listing)


class TestWhatWasRead:
    @pytest.mark.parametrize("change", CHANGES)
    @pytest.mark.parametrize("read", sorted(READS.keys() - {"is_suspect", "set_aside"}))
    async def test_any_change_of_it_brings_a_pass(self, read: str, change: str) -> None:
        cache = a_cache(a_body("a", 1))
        setting = reading(cache, READS[read])
        await setting.run()
        CHANGES[change](cache)
        assert await setting.run() == 1

    @pytest.mark.parametrize("read", sorted(READS.keys() - {"values", "broken", "__len__"}))
    async def test_unchanged_it_brings_none(self, read: str) -> None:
        cache = a_cache(a_body("a", 1), a_body("b", 2, phase="Pending"))
        setting = reading(cache, READS[read])
        assert await setting.run(3) == 1
        assert setting.confirmed == ["eng", "eng"]

    async def test_what_is_listed_again_and_is_the_same_brings_none(self) -> None:
        cache = a_cache(a_body("a", 1))
        setting = reading(cache, looked_up)
        await setting.run()
        relisted(cache, a_body("a", 1))
        assert await setting.run() == 0

    @pytest.mark.parametrize("read", ["get", "known", "version", "is_suspect", "by_index"])
    async def test_others_may_change(self, read: str) -> None:
        cache = a_cache(a_body("a", 1), a_body("b", 2, phase="Pending"))
        setting = reading(cache, READS[read])
        await setting.run()
        cache.watched("", an_event("MODIFIED", a_body("b", 20, phase="Failed")))
        assert await setting.run() == 0

    @pytest.mark.parametrize("read", ["get", "by_index"])
    async def test_what_was_missing_and_appears_brings_a_pass(self, read: str) -> None:
        cache = a_cache()
        setting = reading(cache, READS[read])
        await setting.run()
        cache.watched("", an_event("ADDED", a_body("a", 20)))
        assert await setting.run() == 1

    async def test_what_appears_under_a_term_brings_a_pass(self) -> None:
        cache = a_cache(a_body("a", 1))
        setting = reading(cache, READS["by_index"])
        await setting.run()
        cache.watched("", an_event("ADDED", a_body("b", 20)))
        assert await setting.run() == 1

    async def test_a_write_without_an_answer_brings_a_pass(self) -> None:
        cache = a_cache(a_body("a", 1))
        setting = reading(cache, READS["is_suspect"])
        await setting.run()
        cache.unanswered(pod_ref())
        assert await setting.run() == 1

    @pytest.mark.parametrize("is_there_before", [False, True])
    async def test_an_object_that_cannot_be_read_brings_passes_while_it_is_there(self, is_there_before: bool) -> None:
        cache = a_cache(*([a_body("b", 2, phase=7)] if is_there_before else []))
        setting = reading(cache, READS["set_aside"])
        await setting.run()
        cache.watched("", an_event("MODIFIED", a_body("b", 20, phase=8)))
        assert await setting.run(2) == 2
        cache.watched("", an_event("DELETED", a_body("b", 21, phase=8)))
        assert await setting.run(2) == 1

    async def test_what_changes_during_the_pass_brings_another(self) -> None:
        cache = a_cache(a_body("a", 1))

        async def step() -> Outcome:
            cache.get(KEY)
            cache.written(pod_ref(), a_body("a", 20 + setting.runs))
            cache.get(KEY)
            return SETTLED

        setting = Setting(step)
        assert await setting.run(2) == 2

    async def test_what_a_task_of_the_pass_read_counts(self) -> None:
        cache = a_cache(a_body("a", 1))

        async def look() -> None:
            cache.get(KEY)

        async def step() -> Outcome:
            async with asyncio.TaskGroup() as group:
                group.create_task(look())
            return SETTLED

        setting = Setting(step)
        assert await setting.run(2) == 1
        cache.watched("", an_event("MODIFIED", a_body("a", 20)))
        assert await setting.run() == 1


class TestWhatIsNeverRemembered:
    async def test_a_pass_that_does_not_say_that_it_is_settled(self) -> None:
        assert await reading(a_cache(), looked_up, Outcome("waiting")).run(2) == 2

    async def test_a_pass_that_asked_the_server(self) -> None:
        cache = a_cache(a_body("a", 1))

        async def step() -> Outcome:
            spoil()
            return SETTLED

        assert await reading(cache, looked_up).run(2) == 1
        assert await Setting(step).run(2) == 2

    async def test_a_pass_that_failed_and_none_before_it(self) -> None:
        cache, fails = a_cache(a_body("a", 1)), list[Any]()

        async def step() -> Outcome:
            cache.get(KEY)
            if fails:
                raise fails.pop()
            return SETTLED

        setting = Setting(step)
        assert await setting.run(2) == 1
        cache.watched("", an_event("MODIFIED", a_body("a", 20)))
        fails.append(TransientError("refused"))
        with pytest.raises(TransientError):
            await setting.run()
        assert await setting.run(2) == 1

    async def test_one_of_another_process(self) -> None:
        cache = a_cache(a_body("a", 1))
        await reading(cache, looked_up).run(2)
        assert await reading(cache, looked_up).run(1) == 1

    async def test_two_keys_do_not_answer_for_each_other(self) -> None:
        cache = a_cache(a_body("a", 1), a_body("b", 2))
        setting = reading(cache, looked_up)
        await setting.passes.run("one")
        await setting.passes.run("two")
        assert setting.runs == 2


async def test_reads_outside_of_a_pass_are_nobodys_evidence() -> None:
    cache = a_cache(a_body("a", 1))
    with gathering() as evidence:
        cache.get(KEY)
    cache.get(OTHER)
    cache.watched("", an_event("ADDED", a_body("b", 20)))
    assert still_holds(evidence.checks())
