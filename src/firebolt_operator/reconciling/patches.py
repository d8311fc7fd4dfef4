"""How is one of our objects patched? Only while it is the one that was read, in the version that was read."""

from collections.abc import Mapping
from typing import Any, Protocol

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.refs import Manifest, Ref


class Patcher(Protocol):
    """The one verb that is needed here."""

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /) -> Manifest: ...


async def patch_as_read(ref: Ref, metadata: ObjectMeta, patch: Manifest, writer: Patcher) -> Manifest:
    """A conflict if anybody else changed it meanwhile: lists in a merge patch replace what is there."""
    read = {"resourceVersion": metadata.resource_version, "uid": metadata.uid}
    return await writer.merge_patch(ref, {**patch, "metadata": {**patch.get("metadata", {}), **read}})
