"""Whatever somebody writes into the metadata of an object, a cache keeps little of it."""

import json
import tracemalloc
from collections.abc import Callable
from typing import Any, Final

import pytest

from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.engine.listener_views import decode_listener_secret
from firebolt_operator.engine.views import decode_child, decode_config_map, decode_statefulset
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.manifests.kept_metadata import MOST_OWNERS, kept_metadata
from firebolt_operator.manifests.live_objects import decode_live
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.objects import aside_of, header_of

OURS: Final = {"firebolt.io/engine": "e", "firebolt.io/generation": "1", "firebolt.io/instance": "i"}
OWNER: Final[Manifest] = {"apiVersion": "v1", "kind": "X", "name": "x", "uid": "u"}
ENGINE: Final[Manifest] = {**OWNER, "kind": "FireboltEngine", "controller": True, "uid": "engine"}
MOST_BYTES: Final = 50_000  # the decoder keeps some words for its next object
DECODERS: Final[dict[str, Callable[[bytes], Any]]] = {
    "child": decode_child,
    "config map": decode_config_map,
    "statefulset": decode_statefulset,
    "engine secret": decode_listener_secret,
    "instance secret": decode_secret,
    "live object": decode_live,
    "set aside": lambda body: aside_of(header_of(body), body),
}
LARGE: Final[dict[str, Manifest]] = {
    "labels": {"labels": OURS | {f"l{number}": "" for number in range(20_000)}},
    "owners": {"labels": OURS, "ownerReferences": [OWNER | {"uid": f"u{number}"} for number in range(5_000)]},
    "a long owner": {"labels": OURS, "ownerReferences": [OWNER | {"name": "x" * 200_000, "uid": "y" * 200_000}]},
    "annotations": {"labels": OURS, "annotations": {"a": "x" * 200_000, "firebolt.io/instance-id": "x" * 50_000}},
    "finalizers": {"labels": OURS, "finalizers": [f"example.com/{number}" for number in range(20_000)]},
}


def an_object(**metadata: Any) -> bytes:
    named = {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "5"}
    return json.dumps({"kind": "X", "metadata": named | metadata}).encode()


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("large", LARGE)
def test_given_large_metadata_then_little_of_it_is_kept(decoder: str, large: str) -> None:
    body = an_object(**LARGE[large])
    DECODERS[decoder](body)  # what is made once is not the question
    tracemalloc.start()
    try:
        kept = DECODERS[decoder](body)
        size, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept is not None
    assert size < MOST_BYTES


def test_given_a_controller_among_many_owners_then_it_is_known() -> None:
    others = [OwnerReference(uid=f"u{number}") for number in range(5_000)]
    controller = OwnerReference(uid="engine", kind="FireboltEngine", controller=True)
    kept = kept_metadata(ObjectMeta(owner_references=[*others, controller]))
    assert kept.controller == controller
    assert len(kept.owner_references) == MOST_OWNERS
    assert decode_child(an_object(ownerReferences=[OWNER] * 5_000 + [ENGINE])).is_owned_by("engine")


def test_given_few_of_all_then_nothing_that_is_read_is_lost() -> None:
    metadata = ObjectMeta(
        name="a",
        labels=OURS,
        annotations={"a": "b"},
        finalizers=["example.com/f"],
        owner_references=[OwnerReference(uid="u", kind="X", name="x")],
    )
    assert kept_metadata(metadata) == metadata


def test_given_many_labels_of_an_object_that_is_set_aside_then_ours_are_known() -> None:
    body = an_object(labels={f"l{number}": "" for number in range(5_000)} | OURS)
    assert OURS.items() <= aside_of(header_of(body), body).labels.items()
