"""An object that cannot be decoded: it is there, everybody can know it, and nobody can take it for missing."""

import json
import logging
from typing import Any

import pytest

from firebolt_operator.errors import UnreadableError
from firebolt_operator.kube.set_aside import outline
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live
from firebolt_operator.runtime.objects import Aside
from tests.support.deep import with_depth
from tests.unit.runtime.builders import PODS, Pod, a_body, an_event, decode_pod, pod_ref
from tests.unit.runtime.memory_reader import MemoryReader

A = ("ns", "a")


def a_cache() -> Cache[Pod]:
    return Cache(PODS, decode_pod, indexes={"phase": lambda pod: [pod.status.phase]})


def unreadable(name: str, version: int, **fields: Any) -> bytes:
    return outline(deep(name, version, **fields))


def deep(name: str, version: int, **fields: Any) -> bytes:
    return with_depth(json.loads(a_body(name, version, **fields)), "status", "deep")


def heard_of(cache: Cache[Pod]) -> list[tuple[str, int]]:
    heard = list[tuple[str, int]]()

    def hear(aside: Aside) -> None:
        heard.append((aside.header.metadata.name, aside.header.version))

    cache.subscribe_aside(hear)
    return heard


def fill(cache: Cache[Pod], version: int, *bodies: bytes) -> None:
    listing = cache.begin_list("", version)
    for body in bodies:
        cache.listed(listing, body)
    cache.end_list(listing)


@pytest.mark.parametrize("made", [unreadable, deep])
def test_a_list_and_a_watch_go_on_behind_it(made: Any, caplog: pytest.LogCaptureFixture) -> None:
    """As an outline, and as a text that only here, further down the stack, turns out to be too deep."""
    cache = a_cache()
    heard = heard_of(cache)
    with caplog.at_level(logging.ERROR):
        fill(cache, 5, made("a", 3), a_body("b", 4))
        cache.watched("", an_event("MODIFIED", made("a", 6)))
        cache.watched("", an_event("MODIFIED", a_body("b", 7)))
    assert [pod.metadata.resource_version for pod in cache.values()] == ["7"]
    assert (cache.watermark(""), cache.version(A), cache.broken, cache.broken_total) == (7, 6, frozenset({A}), 2)
    assert heard == [("a", 3), ("a", 6)]
    assert [(record.message, vars(record)["key"]) for record in caplog.records] == [("object set aside", "ns/a")]


def test_whoever_acts_on_an_absence_is_told_that_there_is_none() -> None:
    cache = a_cache()
    fill(cache, 5, unreadable("a", 3))
    with pytest.raises(UnreadableError, match=r"^Pod ns/a is there, but cannot be decoded$"):
        cache.known(A)
    assert cache.known(("ns", "other")) is None


def test_what_is_set_aside_is_known_by_its_name_labels_and_owners() -> None:
    cache = a_cache()
    document = json.loads(a_body("a", 3, labels={"engine": "e"}))
    document["metadata"]["ownerReferences"] = [{"uid": "o-1", "kind": "StatefulSet"}, {"uid": "o-2"}]
    fill(cache, 5, outline(with_depth(document, "status", "deep")), unreadable("b", 4))
    owned, free = cache.set_aside()
    assert (owned.header.key, owned.header.metadata.uid, owned.labels) == (A, "uid-a", {"engine": "e"})
    assert (owned.owners, free.owners) == (frozenset({"o-1", "o-2"}), frozenset[str]())


def test_an_outline_is_never_taken_for_the_object_even_if_it_would_decode() -> None:
    assert decode_pod(unreadable("a", 3)).metadata.name == "a"
    with pytest.raises(UnreadableError):
        a_cache().decode(unreadable("a", 3))


def test_once_it_can_be_read_or_is_gone_it_is_not_set_aside_any_more() -> None:
    cache = a_cache()
    heard = heard_of(cache)
    fill(cache, 5, unreadable("a", 3), unreadable("b", 4))
    cache.watched("", an_event("MODIFIED", a_body("a", 6)))
    cache.watched("", an_event("DELETED", unreadable("b", 7)))
    assert cache.known(A) is not None
    assert cache.broken == frozenset()
    assert heard == [("a", 3), ("b", 4), ("b", 4)]  # the last one because it is gone
    cache.watched("", an_event("MODIFIED", unreadable("a", 8)))
    assert cache.by_index("phase", "Running") == []
    assert cache.broken == frozenset({A})
    fill(cache, 9)
    assert cache.broken == frozenset()


def test_an_own_write_that_cannot_be_read_back_sets_it_aside_too() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("a", 3))
    cache.written(pod_ref(), unreadable("a", 6))
    with pytest.raises(UnreadableError):
        cache.known(A)


@pytest.mark.parametrize("body", [unreadable("a", 12), a_body("a", 12, phase=17)], ids=["deep", "wrong-type"])
async def test_a_live_read_names_it_and_the_cache_learns_of_it(body: bytes) -> None:
    cache, reader = a_cache(), MemoryReader()
    reader.objects[A] = body
    with pytest.raises(UnreadableError, match=r"^Pod ns/a is there, but cannot be decoded: "):
        await fetch_live(cache, reader, pod_ref())
    assert cache.broken == frozenset({A})


def test_a_subscriber_that_fails_over_it_hurts_nobody() -> None:
    cache = a_cache()

    def fail(_aside: Aside) -> None:
        raise KeyError("odd object")

    cache.subscribe_aside(fail)
    heard = heard_of(cache)
    fill(cache, 5, unreadable("a", 3))
    assert heard == [("a", 3)]
