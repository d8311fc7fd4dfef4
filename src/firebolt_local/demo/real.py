"""The operator as a real pod on a cluster of this machine: installed, queried, changed under load, parked and woken.

The cluster goes on running afterwards, for whoever wants to try more.
"""

import asyncio
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec
import yaml

from firebolt_local.demo import words
from firebolt_local.demo.secured import Door, Secured, start_cert_manager
from firebolt_local.demo.story import ENGINE, INSTANCE, NAMESPACE, Story
from firebolt_local.demo.timeline import Timeline
from firebolt_local.errors import LocalError
from firebolt_local.images.standin_images import ENGINE_NEXT
from firebolt_local.node.cluster import NodeCluster, NodesRequest, up
from firebolt_local.progress import Progress
from firebolt_local.testing import faults
from firebolt_local.testing.faults import StepFailedError
from firebolt_local.testing.following import follow
from firebolt_local.testing.groups import without_groups
from firebolt_local.testing.image_loading import build_and_load
from firebolt_local.testing.installer import NAMESPACE as OPERATOR_NAMESPACE
from firebolt_local.testing.installer import WHY_SETTLE, Installer
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS, STATEFULSETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.kube.ports import EventType, Scope
from firebolt_operator.refs import Manifest, Ref
from kubectl_firebolt.picture.answers import totals
from kubectl_firebolt.picture.page import page as render_page
from kubectl_firebolt.picture.recorder import Recorder
from kubectl_firebolt.picture.recording import Recording, Told

NAME: Final = "demo"
_REMOVAL_SECONDS: Final = 120
_LOOK_EVERY_SECONDS: Final = 0.2


def run(page: Path, commands: words.Commands, *, is_secure: bool = False) -> None:
    began_at = time.monotonic()
    cluster = up(NodesRequest(name=NAME, assume_yes=True))
    installer = Installer.for_cluster(cluster)
    place = words.Place(
        kubeconfig=cluster.kubeconfig, kubectl=installer.kubectl, page=page, engine=ENGINE.name, commands=commands
    )
    secured = Secured() if is_secure else None
    if secured is not None:
        start_cert_manager(cluster)
    recording, door = asyncio.run(_show(cluster, installer, place, secured))
    print(words.ending(recording, place, door, seconds=time.monotonic() - began_at), flush=True)
    if totals(recording.answers).failed:
        raise LocalError(f"queries failed, which must not happen; {page} shows when, and what they were told")


async def _show(
    cluster: NodeCluster, installer: Installer, place: words.Place, secured: Secured | None
) -> tuple[Recording, Door]:
    async with KubeClient.from_credentials(load_credentials(str(cluster.kubeconfig), {})) as client:
        try:
            _install(cluster, installer)
            await _remove_earlier(client, place)
            with without_groups():
                return await _tell(client, cluster, place.page, secured)
        except StepFailedError as err:
            seen = await faults.observed(client, (NAMESPACE, OPERATOR_NAMESPACE))
            raise LocalError(faults.explanation(err.step, err.problem, seen, words.tries(place))) from err


def _install(cluster: NodeCluster, installer: Installer) -> None:
    progress = Progress(_say)
    _say("==> images, built without a registry")
    archives, loaded = build_and_load(cluster, say=lambda text, end: print(text, end=end, flush=True))
    progress.note(f"images are on the node, {len(loaded)} of {len(archives)} archives loaded now")
    _say(f"==> the operator, with its Helm chart; {WHY_SETTLE}")
    installer.bring_up_to_date(loaded)
    progress.note("the operator's pod is ready")


async def _remove_earlier(client: KubeClient, place: words.Place) -> None:
    for ref in (ENGINE, Ref(FIREBOLT_INSTANCES, NAMESPACE, INSTANCE)):
        if await _remove(client, ref, place):
            _say(f"==> {ref} of an earlier run is gone")


async def _remove(client: KubeClient, ref: Ref, place: words.Place) -> bool:
    """Delete it and wait until its finalizer has let go; answers whether it was there."""
    found = await client.get(ref)
    if found is None:
        return False
    uid = found["metadata"]["uid"]
    await client.delete(ref, uid=uid, propagation="Foreground")
    try:
        async with asyncio.timeout(_REMOVAL_SECONDS):
            while await client.get(ref) is not None:  # noqa: ASYNC110 - once, before anything is measured
                await asyncio.sleep(_LOOK_EVERY_SECONDS)
    except TimeoutError as err:
        raise LocalError(f"{ref} of an earlier run does not go away; run {place.commands.clean}, then again") from err
    return True


async def _tell(
    client: KubeClient, cluster: NodeCluster, page: Path, secured: Secured | None
) -> tuple[Recording, Door]:
    began_at = time.monotonic()

    def clock() -> float:
        return time.monotonic() - began_at

    facts = words.facts(cluster.http.get("/version")["gitVersion"], os.cpu_count() or 1, is_secure=secured is not None)
    began = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime())
    told = Told(kicker=words.KICKER, began=began, since=words.SINCE, story=words.STORY, facts=facts)
    recorder, timeline = Recorder(ENGINE.name, clock), Timeline(clock, _say)
    story = Story(client, recorder, timeline, clock, ENGINE_NEXT, _manifests(), secured)
    try:
        async with _watching(client, recorder, timeline):
            await story.run()
    finally:
        # A page of a demo that was cut short shows how far it came.
        draft = recorder.recording(told, story.answers)
        highlights = words.highlights(draft, woken_after=story.woken_after)
        recording = _kept(page, replace(draft, told=replace(told, highlights=highlights)))
    return recording, story.door


@asynccontextmanager
async def _watching(client: KubeClient, recorder: Recorder, timeline: Timeline) -> AsyncGenerator[None]:
    def engine(kind: EventType, manifest: Manifest) -> None:
        recorder.engine(kind, manifest)
        timeline.engine(kind, manifest)

    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(follow(client, Scope(resource=resource, namespace=NAMESPACE), seen), name=resource.plural)
            for resource, seen in (
                (FIREBOLT_INSTANCES, timeline.instance),
                (FIREBOLT_ENGINES, engine),
                (STATEFULSETS, recorder.statefulset),
                (PODS, recorder.pod),
            )
        ]
        yield
        for task in tasks:
            task.cancel()


def _manifests() -> list[Manifest]:
    found: list[Manifest] = list(yaml.safe_load_all(words.example("quickstart.yaml").read_text()))
    return [manifest | {"metadata": manifest["metadata"] | {"namespace": NAMESPACE}} for manifest in found]


def recording_beside(page: Path) -> Path:
    return page.with_suffix(".json")


def _kept(page: Path, recording: Recording) -> Recording:
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(render_page(recording), encoding="utf-8")
    recording_beside(page).write_bytes(msgspec.json.encode(recording))
    return recording


def _say(text: str) -> None:
    print(text, flush=True)
