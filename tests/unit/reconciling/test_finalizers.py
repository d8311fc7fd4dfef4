"""Finalizers of ours come and go; those of others stay, and so does whatever changed since the object was read."""

from typing import Any, cast

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.reconciling.finalizers import add_finalizer, remove_finalizer
from firebolt_operator.refs import Manifest, Ref, Resource

OURS = {
    FIREBOLT_ENGINES: names.FINALIZER_ENGINE,
    FIREBOLT_ENGINE_CLASSES: names.FINALIZER_ENGINE_CLASS,
    FIREBOLT_INSTANCES: names.FINALIZER_INSTANCE,
}


class OneObject:
    def __init__(self) -> None:
        self.patches = list[tuple[Ref, Manifest]]()

    async def merge_patch(self, ref: Ref, patch: Manifest, /) -> Manifest:
        self.patches.append((ref, patch))
        return patch


@pytest.mark.parametrize("resource", OURS)
@pytest.mark.parametrize(
    ("change", "before", "after"),
    [
        pytest.param(add_finalizer, ["a/b"], ["a/b", "OURS"], id="added-to-those-of-others"),
        pytest.param(remove_finalizer, ["a/b", "OURS", "c/d"], ["a/b", "c/d"], id="those-of-others-stay"),
    ],
)
async def test_a_finalizer_is_changed_only_in_the_list_that_was_read(
    resource: Resource, change: Any, before: list[str], after: list[str]
) -> None:
    def named(finalizers: list[str]) -> list[str]:
        return [OURS[resource] if each == "OURS" else each for each in finalizers]

    server, ref = OneObject(), Ref(resource, "ns", "it")
    metadata = ObjectMeta(namespace="ns", name="it", uid="u", resource_version="7", finalizers=named(before))
    await change(ref, metadata, OURS[resource], cast("Any", server))
    wanted = {"finalizers": named(after), "resourceVersion": "7", "uid": "u"}
    assert server.patches == [(ref, {"metadata": wanted})]
