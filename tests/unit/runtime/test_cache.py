"""One cache, three sources of news: what it takes, what it ignores, whom it tells."""

import logging

import pytest

from firebolt_operator.errors import ExpiredError
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from tests.unit.runtime.builders import PODS, Pod, a_body, a_bookmark, an_event, decode_pod, pod_ref

A = ("ns", "a")


def a_cache(coverage: Coverage | None = None) -> Cache[Pod]:
    return Cache(
        PODS,
        decode_pod,
        coverage=coverage or Coverage(),
        indexes={"phase": lambda pod: [pod.status.phase], "label": lambda pod: pod.metadata.labels},
    )


def fill(cache: Cache[Pod], version: int, *bodies: bytes, part: str = "") -> None:
    listing = cache.begin_list(part, version)
    for body in bodies:
        cache.listed(listing, body)
    cache.end_list(listing)


def version_of(pod: Pod | None) -> str | None:
    return None if pod is None else pod.metadata.resource_version


def changes_of(cache: Cache[Pod]) -> list[tuple[str | None, str | None]]:
    """Versions of old and new, as the subscriber hears them."""
    heard: list[tuple[str | None, str | None]] = []

    def hear(old: Pod | None, new: Pod | None) -> None:
        heard.append((version_of(old), version_of(new)))

    cache.subscribe(hear)
    return heard


def test_given_a_list_and_a_watch_then_the_cache_follows_and_tells() -> None:
    cache = a_cache()
    heard = changes_of(cache)
    fill(cache, 5, a_body("a", 3), a_body("b", 4))
    cache.watched("", an_event("MODIFIED", a_body("a", 6)))
    cache.watched("", an_event("DELETED", a_body("b", 7)))
    cache.watched("", a_bookmark(9))
    assert heard == [(None, "3"), (None, "4"), ("3", "6"), ("4", None)]
    assert [pod.metadata.name for pod in cache.values()] == ["a"]
    assert (len(cache), cache.version(A), cache.watermark("")) == (1, 6, 9)


def test_given_an_own_write_when_the_watch_repeats_it_then_nobody_is_told_again() -> None:
    cache = a_cache()
    fill(cache, 1)
    heard = changes_of(cache)
    cache.written(pod_ref(), a_body("a", 5))
    cache.watched("", an_event("ADDED", a_body("a", 4)))
    cache.watched("", an_event("MODIFIED", a_body("a", 5)))
    assert heard == [(None, "5")]


def test_given_the_watch_told_of_a_deletion_when_an_older_answer_arrives_then_the_object_stays_gone() -> None:
    cache = a_cache()
    fill(cache, 4, a_body("a", 3))
    cache.watched("", an_event("MODIFIED", a_body("a", 5)))
    cache.watched("", an_event("DELETED", a_body("a", 6)))
    cache.written(pod_ref(), a_body("a", 5))
    assert cache.get(A) is None


def test_given_an_own_delete_when_stale_events_arrive_then_the_object_stays_gone_until_it_is_made_anew() -> None:
    cache = a_cache()
    fill(cache, 4, a_body("a", 3))
    cache.deleted(pod_ref(), "uid-a")
    cache.watched("", an_event("MODIFIED", a_body("a", 5)))
    assert cache.get(A) is None
    cache.watched("", an_event("DELETED", a_body("a", 6)))
    cache.watched("", an_event("ADDED", a_body("a", 7, uid="second")))
    assert cache.version(A) == 7


def test_given_a_delete_and_a_recreation_of_our_own_when_the_old_deletion_arrives_then_the_new_one_stays() -> None:
    cache = a_cache()
    fill(cache, 4, a_body("a", 3))
    cache.deleted(pod_ref(), "uid-a")
    cache.written(pod_ref(), a_body("a", 7, uid="second"))
    cache.watched("", an_event("DELETED", a_body("a", 6)))
    assert cache.version(A) == 7


def test_given_a_delete_of_an_object_the_cache_had_not_met_then_its_late_events_do_not_show_it() -> None:
    cache = a_cache()
    fill(cache, 1)
    heard = changes_of(cache)
    cache.deleted(pod_ref(), "uid-a")
    cache.watched("", an_event("ADDED", a_body("a", 2)))
    cache.watched("", an_event("DELETED", a_body("a", 3)))
    assert heard == []


def test_given_a_relist_then_what_it_lacks_is_gone_except_newer_own_writes() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("a", 3), a_body("b", 4))
    heard = changes_of(cache)
    listing = cache.begin_list("", 10)
    cache.written(pod_ref("new"), a_body("new", 11))
    cache.written(pod_ref("older"), a_body("older", 9))
    cache.listed(listing, a_body("b", 8))
    cache.end_list(listing)
    assert sorted(pod.metadata.name for pod in cache.values()) == ["b", "new"]
    assert heard == [(None, "11"), (None, "9"), ("4", "8"), ("3", None), ("9", None)]


def test_given_a_delete_while_a_list_is_under_way_then_its_old_page_does_not_bring_the_object_back() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("a", 3))
    listing = cache.begin_list("", 6)
    cache.deleted(pod_ref(), "uid-a")
    cache.listed(listing, a_body("a", 3))
    cache.end_list(listing)
    assert cache.get(A) is None
    cache.watched("", an_event("MODIFIED", a_body("a", 7)))
    assert cache.get(A) is None


def test_given_a_relist_after_an_own_delete_then_the_name_is_free_again() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("a", 3))
    cache.deleted(pod_ref(), "uid-a")
    fill(cache, 9)
    assert cache._tombstones._floors == {}


def test_given_a_restored_backup_when_listed_then_older_versions_count() -> None:
    cache = a_cache()
    fill(cache, 100, a_body("a", 90), a_body("b", 95))
    fill(cache, 50, a_body("a", 40))
    assert (cache.version(A), len(cache), cache.watermark("")) == (40, 1, 50)


def test_given_news_between_the_question_and_its_first_page_then_an_older_list_takes_nothing_back() -> None:
    cache = a_cache()
    fill(cache, 10, a_body("a", 3), a_body("b", 4))
    cache.expect_list("")
    cache.watched("", an_event("MODIFIED", a_body("a", 12)))
    listing = cache.begin_list("", 11)
    cache.watched("", an_event("DELETED", a_body("b", 13)))
    cache.watched("", an_event("ADDED", a_body("c", 14)))
    for body in (a_body("a", 3), a_body("b", 4)):
        cache.listed(listing, body)
    cache.end_list(listing)
    assert [version_of(pod) for pod in cache.values()] == ["12", "14"]
    assert cache.watermark("") == 14


def test_given_a_backup_that_has_overtaken_us_when_an_object_is_older_than_it_was_then_only_a_new_list_helps() -> None:
    cache = a_cache()
    fill(cache, 100, a_body("a", 90), a_body("b", 95))
    with pytest.raises(ExpiredError, match="ns/a went back from 90 to 40"):
        fill(cache, 200, a_body("a", 40))
    fill(cache, 200, a_body("a", 40))
    assert (cache.version(A), len(cache), cache.watermark("")) == (40, 1, 200)


def test_given_labels_that_leave_the_coverage_then_the_object_is_gone_and_may_come_back() -> None:
    cache = a_cache(Coverage(labels="mine=yes"))
    fill(cache, 3, a_body("a", 2, labels={"mine": "yes"}))
    cache.written(pod_ref(), a_body("a", 5, labels={}))
    assert cache.get(A) is None
    cache.watched("", an_event("MODIFIED", a_body("a", 4, labels={"mine": "yes"})))
    assert cache.get(A) is None
    cache.watched("", an_event("DELETED", a_body("a", 5)))
    cache.watched("", an_event("ADDED", a_body("a", 6, labels={"mine": "yes"})))
    assert cache.version(A) == 6


@pytest.mark.parametrize(
    ("ref", "body"),
    [
        pytest.param(pod_ref(namespace="elsewhere"), a_body("a", 9, namespace="elsewhere"), id="other-namespace"),
        pytest.param(pod_ref(), a_body("a", 9), id="labels-do-not-match"),
        pytest.param(
            Ref(Resource("", "v1", "configmaps", "ConfigMap"), "ns", "a"), a_body("a", 9), id="other-resource"
        ),
        pytest.param(
            pod_ref(),
            a_body("a", 9, labels={"mine": "yes"}).replace(b'"Pod"', b'"Scale"'),
            id="answer-of-a-subresource",
        ),
        pytest.param(pod_ref(), b'{"kind": "Status"}', id="not-an-object"),
    ],
)
def test_given_a_write_outside_the_coverage_then_it_is_ignored(ref: Ref, body: bytes) -> None:
    cache = a_cache(Coverage(namespaces=("ns", "other"), labels="mine=yes"))
    cache.written(ref, body)
    assert len(cache) == 0


def test_given_one_name_is_covered_then_writes_to_others_are_ignored() -> None:
    cache = a_cache(Coverage(namespaces=("ns",), name="a"))
    cache.written(pod_ref("b"), a_body("b", 2))
    cache.written(pod_ref("a"), a_body("a", 3))
    assert [pod.metadata.name for pod in cache.values()] == ["a"]
    assert cache.coverage.scope(PODS, "ns").fields == "metadata.name=a"


def test_given_two_namespaces_then_a_list_of_one_leaves_the_other_alone() -> None:
    cache = a_cache(Coverage(namespaces=("x", "y")))
    fill(cache, 5, a_body("a", 3, namespace="x"), part="x")
    was_synced = cache.is_synced
    fill(cache, 6, a_body("a", 4, namespace="y"), part="y")
    assert (was_synced, cache.is_synced) == (False, True)
    fill(cache, 9, part="x")
    assert [pod.metadata.namespace for pod in cache.values()] == ["y"]


def test_given_an_unanswered_write_then_the_key_is_suspect_until_it_is_read_live() -> None:
    cache = a_cache()
    cache.unanswered(pod_ref())
    assert cache.is_suspect(A)
    cache.observed(pod_ref(), a_body("a", 4), since=0)
    assert not cache.is_suspect(A)
    assert cache.version(A) == 4


def test_given_a_live_read_finds_nothing_then_the_object_is_gone_unless_it_was_made_meanwhile() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("a", 3))
    cache.observed(pod_ref(), None, since=3)
    assert cache.get(A) is None
    cache.written(pod_ref(), a_body("a", 7, uid="second"))
    cache.observed(pod_ref(), None, since=3)
    assert cache.version(A) == 7


def test_given_indexes_then_they_follow_every_change_and_answer_in_order() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("b", 3), a_body("a", 4), a_body("c", 5, phase="Pending", labels={"x": "1", "y": "2"}))
    assert [pod.metadata.name for pod in cache.by_index("phase", "Running")] == ["a", "b"]
    cache.watched("", an_event("MODIFIED", a_body("b", 6, phase="Failed")))
    cache.watched("", an_event("DELETED", a_body("a", 7)))
    assert cache.by_index("phase", "Running") == []
    assert [pod.metadata.name for pod in cache.by_index("phase", "Failed")] == ["b"]
    assert [pod.metadata.name for pod in cache.by_index("label", "y")] == ["c"]
    assert cache._indexes._keys["phase"].keys() == {"Failed", "Pending"}


def test_given_a_change_that_moves_an_object_nowhere_then_its_neighbours_are_not_copied() -> None:
    cache = a_cache()
    fill(cache, 5, a_body("b", 3), a_body("a", 4))
    before = cache._indexes.keys(("phase", "Running"))
    cache.watched("", an_event("MODIFIED", a_body("b", 6, labels={"x": "1"})))
    assert cache._indexes.keys(("phase", "Running")) is before
    assert [pod.metadata.name for pod in cache.by_index("label", "x")] == ["b"]


def test_given_a_broken_object_then_only_it_is_hurt_and_it_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    cache = a_cache()
    heard = changes_of(cache)
    with caplog.at_level(logging.ERROR):
        fill(cache, 5, a_body("a", 3, phase=17), a_body("b", 4))
        cache.watched("", an_event("MODIFIED", a_body("a", 6, phase=18)))
    assert (cache.get(A), cache.broken, len(cache), cache.broken_total) == (None, frozenset({A}), 1, 2)
    assert [record.message for record in caplog.records] == ["object set aside"]
    cache.watched("", an_event("MODIFIED", a_body("a", 7)))
    cache.watched("", an_event("MODIFIED", a_body("a", 8, phase=17)))
    assert heard == [(None, "4"), (None, "7"), ("7", None)]
    cache.watched("", an_event("DELETED", a_body("a", 9)))
    assert cache.broken == frozenset()


def test_given_a_subscriber_that_fails_then_the_others_and_the_cache_go_on(caplog: pytest.LogCaptureFixture) -> None:
    cache = a_cache()

    def fail(_old: Pod | None, _new: Pod | None) -> None:
        raise KeyError("odd object")

    cache.subscribe(fail)
    heard = changes_of(cache)
    fill(cache, 5, a_body("a", 3))
    assert heard == [(None, "3")]
    assert caplog.records[0].message == "subscriber failed"
