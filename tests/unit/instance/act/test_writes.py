"""How are a plan's steps carried out? In their order, until one fails, and each only on the object that was seen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_INSTANCES
from firebolt_operator.errors import (
    AlreadyExistsError,
    ConflictError,
    FencedError,
    InvalidError,
    OperatorError,
    TransientError,
)
from firebolt_operator.instance.act.writes import StepFailure, carry_out, patch_instance
from firebolt_operator.instance.facts import Answer
from firebolt_operator.instance.plan import Apply, Create, Refuse, Remake, Stage, Step, Unknown, Write
from firebolt_operator.manifests.live_objects import LiveObject, live_object
from firebolt_operator.refs import Manifest, Ref
from tests.support.instances import an_instance


@dataclass
class Requests:
    """What the writer is asked for; it answers with what the server adds, and refuses what it is told to."""

    refusals: Mapping[str, OperatorError] = field(default_factory=dict[str, OperatorError])  # by the object's name
    sent: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    async def apply(self, manifest: Manifest, /) -> Manifest:
        self._take("apply", manifest["metadata"]["name"], manifest)
        return as_stored(manifest)

    async def create(self, manifest: Manifest, /) -> Manifest:
        self._take("create", manifest["metadata"]["name"], manifest)
        return as_stored(manifest)

    async def delete(self, ref: Ref, /, *, uid: str) -> None:
        self._take("delete", ref.name, ref, uid)

    async def merge_patch(self, ref: Ref, patch: Manifest, /) -> Manifest:
        self._take("patch", ref.name, ref, patch)
        return patch

    def _take(self, verb: str, name: str, *what: object) -> None:
        self.sent.append((verb, *what))
        if name in self.refusals:
            raise self.refusals[name]


def a_map(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "ns"}, "data": {"a": "1"}}


def as_stored(manifest: Manifest) -> Manifest:
    return {**manifest, "metadata": {**manifest["metadata"], "uid": "uid-stored", "resourceVersion": "9"}}


def a_step(write: Write) -> Step:
    return Step(doing="ensuring it", stage=Stage.METADATA_SERVICE, reason="EnsureFailed", write=write)


async def carried_out(requests: Requests, *writes: Write) -> tuple[StepFailure | None, dict[Ref, Answer]]:
    answers = dict[Ref, Answer]()
    failure = await carry_out([a_step(each) for each in writes], cast("Any", requests), answers)
    return failure, answers


OLD = LiveObject(metadata=ObjectMeta(name="two", namespace="ns", uid="uid-old"), content={}, owned={})


async def test_each_step_is_written_in_its_order_and_an_object_is_remade_by_its_uid() -> None:
    requests = Requests()
    failure, _ = await carried_out(requests, Create(a_map("one")), Remake(OLD, a_map("two")), Apply(a_map("three")))
    assert failure is None
    assert requests.sent == [
        ("create", a_map("one")),
        ("delete", Ref(CONFIG_MAPS, "ns", "two"), "uid-old"),
        ("apply", a_map("two")),
        ("apply", a_map("three")),
    ]


async def test_what_the_server_made_of_an_apply_is_remembered_with_what_was_asked() -> None:
    _, answers = await carried_out(Requests(), Apply(a_map("one")), Create(a_map("two")))
    stored = live_object(as_stored(a_map("one")))
    assert answers == {Ref(CONFIG_MAPS, "ns", "one"): Answer(a_map("one"), stored)}


async def test_the_first_failure_ends_it_and_names_its_step() -> None:
    refused = InvalidError("no", status=422)
    requests = Requests({"two": refused})
    failure, answers = await carried_out(requests, Apply(a_map("one")), Apply(a_map("two")), Apply(a_map("three")))
    assert failure == StepFailure(a_step(Apply(a_map("two"))), refused)
    assert requests.sent == [("apply", a_map("one")), ("apply", a_map("two"))]
    assert list(answers) == [Ref(CONFIG_MAPS, "ns", "one")]


async def test_an_object_that_could_not_be_deleted_is_not_applied_over() -> None:
    requests = Requests({"two": TransientError("not now")})
    failure, _ = await carried_out(requests, Remake(OLD, a_map("two")))
    assert failure is not None
    assert [verb for verb, *_ in requests.sent] == ["delete"]


@pytest.mark.parametrize("kind", [Refuse, Unknown])
async def test_what_is_not_ours_is_left_alone_and_nothing_that_follows_is_made(kind: type[Refuse | Unknown]) -> None:
    requests = Requests()
    failure, _ = await carried_out(requests, kind(a_map("one"), "ConfigMap ns/one has no owner"), Apply(a_map("two")))
    assert failure is not None
    assert str(failure.error) == "ConfigMap ns/one has no owner"
    assert requests.sent == []


async def test_whoever_was_quicker_with_a_create_is_read_again_and_not_taken_for_a_refusal() -> None:
    failure, _ = await carried_out(Requests({"one": AlreadyExistsError("it exists", status=409)}), Create(a_map("one")))
    assert failure is not None
    assert isinstance(failure.error, ConflictError)
    assert str(failure.error) == "it exists"


async def test_without_the_lease_it_is_no_failure_of_the_step() -> None:
    with pytest.raises(FencedError, match="lost"):
        await carried_out(Requests({"one": FencedError("lost")}), Apply(a_map("one")))


@pytest.mark.parametrize(
    ("patch", "rest", "metadata"),
    [
        pytest.param({"spec": {"id": "x"}}, {"spec": {"id": "x"}}, {}, id="of-the-spec"),
        pytest.param({"metadata": {"finalizers": ["a/b"]}}, {}, {"finalizers": ["a/b"]}, id="of-the-metadata"),
    ],
)
async def test_an_instance_is_patched_only_as_it_was_decided_on(
    patch: Manifest, rest: Manifest, metadata: Manifest
) -> None:
    requests = Requests()
    await patch_instance(an_instance(meta={"resourceVersion": "7"}), patch, cast("Any", requests))
    wanted = {**rest, "metadata": {**metadata, "resourceVersion": "7", "uid": "uid-1"}}
    assert requests.sent == [("patch", Ref(FIREBOLT_INSTANCES, "ns", "inst"), wanted)]
