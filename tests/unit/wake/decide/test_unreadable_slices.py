"""An EndpointSlice that cannot be decoded: it may well have ready endpoints, so nobody is held because of it."""

import json

from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.kube.set_aside import outline
from firebolt_operator.wake.decide.slices import SERVICE_LABEL
from tests.support.deep import with_depth
from tests.support.wake import Bench


def unreadable(engine: str, name: str, version: int) -> bytes:
    metadata = {
        "name": name,
        "namespace": "ns",
        "uid": f"uid-{name}",
        "resourceVersion": str(version),
        "labels": {SERVICE_LABEL: f"{engine}-service"},
    }
    return outline(with_depth({"metadata": metadata}, "metadata", "managedFields"))


def test_given_an_unreadable_slice_in_the_first_list_then_its_engine_counts_as_ready_and_no_other() -> None:
    bench = Bench()
    listing = bench.cache.begin_list("ns", 9)
    bench.cache.listed(listing, unreadable("deep", "deep-1", 8))
    bench.cache.end_list(listing)
    assert bench.readiness.is_ready("deep")
    assert not bench.readiness.is_ready("other")


def test_given_a_slice_that_turns_unreadable_then_its_engine_stays_ready_until_it_is_gone() -> None:
    bench = Bench()
    bench.sync("eng")
    (key,) = bench.cache._entries
    bench.cache.watched("ns", WatchEvent("MODIFIED", unreadable("eng", key[1], 50)))
    assert bench.readiness.is_ready("eng")
    assert not bench.cache.values()
    bench.cache.watched(
        "ns",
        WatchEvent(
            "DELETED", json.dumps({"metadata": {"name": key[1], "namespace": "ns", "resourceVersion": "51"}}).encode()
        ),
    )
    assert not bench.readiness.is_ready("eng")
