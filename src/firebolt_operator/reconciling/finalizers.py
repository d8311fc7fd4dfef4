"""How does a finalizer get onto one of our objects, and off it? Only while the object is the one that was read."""

from collections.abc import Sequence

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.kube.ports import Writer
from firebolt_operator.reconciling.patches import patch_as_read
from firebolt_operator.refs import Ref


async def add_finalizer(ref: Ref, metadata: ObjectMeta, finalizer: str, writer: Writer) -> None:
    await _write(ref, metadata, [*metadata.finalizers, finalizer], writer)


async def remove_finalizer(ref: Ref, metadata: ObjectMeta, finalizer: str, writer: Writer) -> None:
    await _write(ref, metadata, [each for each in metadata.finalizers if each != finalizer], writer)


async def _write(ref: Ref, metadata: ObjectMeta, finalizers: Sequence[str], writer: Writer) -> None:
    await patch_as_read(ref, metadata, {"metadata": {"finalizers": list(finalizers)}}, writer)
