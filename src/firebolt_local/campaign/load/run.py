"""How does a campaign get a cluster with real pods, and what is run there?"""

import asyncio
from pathlib import Path
from typing import Final

from firebolt_local.campaign.load.story import Tell, open_story
from firebolt_local.campaign.load.turns import Asked
from firebolt_local.campaign.stories.arena import Cluster, arena_on
from firebolt_local.campaign.stories.place import open_place
from firebolt_local.node.cluster import NodeCluster, NodesRequest, up
from firebolt_local.testing.image_loading import build_and_load

NAME: Final = "campaign"


async def run_under_load(start: str, folder: Path, asked: Asked, tell: Tell) -> None:
    """Kill -9 after every write; then random faults for so long, if at all. The cluster is removed afterwards."""
    nodes = await asyncio.to_thread(up, NodesRequest(name=NAME, assume_yes=True))
    try:
        await asyncio.to_thread(build_and_load, nodes)
        async with arena_on(_cluster(nodes, folder)) as arena, open_place(arena, start) as place:
            story = await open_story(place)
            await story.kill_everywhere(asked, tell)
            if asked.seconds:
                await story.anything_for(asked, tell)
    finally:
        await asyncio.to_thread(nodes.down)


def _cluster(nodes: NodeCluster, folder: Path) -> Cluster:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return Cluster(nodes.server, nodes.http, nodes.kubeconfig, nodes.folder.path / "pki" / "ca.crt", folder)
