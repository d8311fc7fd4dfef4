"""How do our kinds get onto a cluster that has no chart?"""

import asyncio
from typing import Final

from firebolt_local.cluster.kube_http import has_condition
from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.api.resources import CUSTOM_RESOURCE_DEFINITIONS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Ref

_MOST_SECONDS: Final = 120.0
_LOOK_EVERY_SECONDS: Final = 0.1


async def install_crds(client: KubeClient) -> None:
    """Returns when objects can be made: a kind can be used once the server says so, a moment after it was made."""
    for crd in crd_manifests():
        await client.apply(crd)
    async with asyncio.timeout(_MOST_SECONDS):
        for crd in crd_manifests():
            ref = Ref(CUSTOM_RESOURCE_DEFINITIONS, "", crd["metadata"]["name"])
            while not has_condition(await client.get(ref) or {}, "Established"):  # noqa: ASYNC110 - a moment, once
                await asyncio.sleep(_LOOK_EVERY_SECONDS)
