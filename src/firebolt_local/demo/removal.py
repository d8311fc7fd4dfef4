"""How does a run begin afresh on a cluster that an earlier run has used?"""

import asyncio
from typing import Final

from firebolt_local.errors import LocalError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Ref

_LOOK_EVERY_SECONDS: Final = 0.2


async def remove(client: KubeClient, ref: Ref, *, within_seconds: float = 120) -> bool:
    """Delete it and wait until its finalizer has let go; answers whether it was there."""
    found = await client.get(ref)
    if found is None:
        return False
    uid = found["metadata"]["uid"]
    await client.delete(ref, uid=uid, propagation="Foreground")
    try:
        async with asyncio.timeout(within_seconds):
            while await client.get(ref) is not None:  # noqa: ASYNC110 - once, before anything is measured
                await asyncio.sleep(_LOOK_EVERY_SECONDS)
    except TimeoutError as err:
        raise LocalError(f"{ref} of an earlier run does not go away; run make demo-clean, then again") from err
    return True
