"""Is everything that kubectl tells taken in, and nothing missed when it ends and starts again?"""

import asyncio
import json
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.errors import KubectlError
from kubectl_firebolt.kubectl import follow
from kubectl_firebolt.kubectl.follow import Followed, documents
from kubectl_firebolt.kubectl.invocation import Target
from kubectl_firebolt.kubectl.run import Kubectl
from tests.support.plugin import asked, played_kubectl


def event(kind: str, uid: str) -> str:
    return json.dumps(
        {"type": kind, "object": {"metadata": {"uid": uid, "name": "käse"}}}, indent=4, ensure_ascii=False
    )


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
async def test_documents_come_in_any_pieces(size: int) -> None:
    body = "\n".join([event("ADDED", "1"), event("DELETED", "2")]).encode()
    stream = asyncio.StreamReader()
    for start in range(0, len(body), size):
        stream.feed_data(body[start : start + size])
    stream.feed_eof()
    found = [document async for document in documents(stream)]
    assert [(each["type"], each["object"]["metadata"]["name"]) for each in found] == [
        ("ADDED", "käse"),
        ("DELETED", "käse"),
    ]


def followed(kubectl: Path, told: list[tuple[str, str]], wanted: int, enough: asyncio.Event) -> Followed:
    def seen(kind: str, manifest: Manifest) -> None:
        told.append((kind, manifest["metadata"]["uid"]))
        if len(told) == wanted:
            enough.set()

    return Followed(Kubectl(str(kubectl)), Target(), "pod", ("-l", "a=b"), seen)


async def run_until(part: Followed, enough: asyncio.Event) -> None:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(part.follow())
        await asyncio.wait_for(enough.wait(), 60)
        task.cancel()


async def test_a_kubectl_that_ends_is_started_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_AGAIN_AFTER_SECONDS", 0.0)
    (tmp_path / "events").write_text(event("ADDED", "1"))
    kubectl = played_kubectl(tmp_path, ("--watch", f"cat {tmp_path}/events; exit 0"))
    told, enough = list[tuple[str, str]](), asyncio.Event()
    await run_until(followed(kubectl, told, 3, enough), enough)
    assert told[:3] == [("ADDED", "1")] * 3
    assert set(asked(kubectl)) == {"get pod -l a=b --watch --output-watch-events -o json"}


async def test_what_went_while_nobody_watched_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follow, "_LOOK_EVERY_SECONDS", 0.05)
    (tmp_path / "events").write_text(event("ADDED", "1"))
    rules = (("--watch", f"cat {tmp_path}/events; exec sleep 600"), ("-o json", "echo '{\"items\": []}'; exit 0"))
    told, enough = list[tuple[str, str]](), asyncio.Event()
    await run_until(followed(played_kubectl(tmp_path, *rules), told, 2, enough), enough)
    assert told == [("ADDED", "1"), ("DELETED", "1")]


async def test_a_kubectl_that_never_works_is_told(tmp_path: Path) -> None:
    kubectl = played_kubectl(tmp_path, ("--watch", "echo forbidden >&2; exit 1"))
    with pytest.raises(ExceptionGroup) as caught:
        await followed(kubectl, [], 1, asyncio.Event()).follow()
    assert isinstance(caught.value.exceptions[0], KubectlError)
    assert caught.value.exceptions[0].complaint == "forbidden"
