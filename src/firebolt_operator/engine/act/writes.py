"""Carries a plan out: objects in the order of the plan, then deletes. The status comes last, and elsewhere."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from firebolt_operator.api.resources import STATEFULSETS
from firebolt_operator.engine.plan import Delete, Patch, Plan
from firebolt_operator.engine.views import Child
from firebolt_operator.kube.ports import Propagation, Writer
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.refs import Manifest, Ref

Seen = Callable[[Ref], Child | None]


@dataclass(frozen=True, slots=True)
class Actor:
    writer: Writer
    seen: Seen  # what the caches hold under a name

    async def carry_out(self, plan: Plan) -> None:
        """The first failure ends it: what follows in a plan may rest on what came before."""
        await self.ensure(plan.ensures)
        for patch in plan.patches:
            await self.patch(patch)
        for delete in plan.deletes:
            await delete_child(self.writer, delete)

    async def ensure(self, manifests: Sequence[Manifest]) -> None:
        for manifest in manifests:
            await self._ensure(manifest)

    async def _ensure(self, manifest: Manifest) -> None:
        live = self.seen(ref_of(manifest))
        if live is None:
            await self.writer.apply(manifest)
        elif live.metadata.is_deleting or not live.says(manifest):
            # A conflict if it is not what was seen any more: another object of that name may be somebody else's.
            version = live.metadata.resource_version
            await self.writer.apply({**manifest, "metadata": {**manifest["metadata"], "resourceVersion": version}})

    async def patch(self, patch: Patch) -> None:
        metadata = patch.child.metadata
        ref = Ref(patch.resource, metadata.namespace, metadata.name)
        await self.writer.merge_patch(ref, {"metadata": {"uid": metadata.uid}, **patch.change})


async def delete_child(writer: Writer, delete: Delete) -> None:
    metadata = delete.child.metadata
    if metadata.is_deleting:
        return
    # Pods go first: orphans that are still Ready would be counted, and would still be asked whether they are drained.
    propagation: Propagation | None = "Foreground" if delete.resource == STATEFULSETS else None
    ref = Ref(delete.resource, metadata.namespace, metadata.name)
    await writer.delete(ref, uid=metadata.uid, propagation=propagation)
