"""Random interleavings of own writes, foreign writes, late answers, late events and relists: the cache never goes back.

The server is a list of versions per name. The watch tells its changes in order, but late. Answers to our own requests
arrive at any time after the request was served, at most one per name on its way (passes of one object do not overlap).
"""

import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.runtime.cache import Cache, Listing
from firebolt_operator.runtime.coverage import Coverage
from tests.unit.runtime.builders import PODS, Pod, a_body, a_bookmark, an_event, decode_pod, pod_ref

if TYPE_CHECKING:
    from collections.abc import Callable

RUNS, STEPS = 150, 80
NAMES = ("a", "b")
MINE = {"mine": "yes"}


@dataclass(frozen=True)
class Version:
    number: int
    uid: str
    is_mine: bool = True  # carries the label that the cache covers


@dataclass
class Server:
    number: int = 1
    objects: dict[str, Version] = field(default_factory=dict[str, Version])
    log: list[tuple[int, WatchEvent]] = field(default_factory=list[tuple[int, WatchEvent]])
    left_at: dict[str, int] = field(default_factory=dict[str, int])  # last time each name was deleted or relabelled

    def write(self, name: str, *, is_mine: bool = True) -> Version:
        """Create or change."""
        self.number += 1
        former = self.objects.get(name)
        new = Version(self.number, former.uid if former else f"{name}-{self.number}", is_mine)
        self.objects[name] = new
        self._tell(name, former, new)
        return new

    def delete(self, name: str) -> Version:
        self.number += 1
        former = self.objects.pop(name)
        self._tell(name, former, None)
        return former

    def _tell(self, name: str, former: Version | None, new: Version | None) -> None:
        was_seen = former is not None and former.is_mine
        if new is not None and new.is_mine:
            self.log.append((self.number, an_event("MODIFIED" if was_seen else "ADDED", body_of(name, new))))
            return
        self.left_at[name] = self.number
        if was_seen and former is not None:
            gone = Version(self.number, former.uid, former.is_mine)
            self.log.append((self.number, an_event("DELETED", body_of(name, gone))))


def body_of(name: str, version: Version) -> bytes:
    return a_body(name, version.number, uid=version.uid, labels=MINE if version.is_mine else {})


class World:
    """A server, a cache, and everything that is on its way between them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.server = Server()
        self.cache: Cache[Pod] = Cache(PODS, decode_pod, coverage=Coverage(labels="mine=yes"))
        self.cache.subscribe(self.hear)
        self.heard: dict[str, str] = {}  # what a subscriber that only listens believes: name to version
        self.answers: dict[str, Callable[[], None]] = {}
        self.deleted_uids: set[str] = set()
        self.known: dict[str, int] = {}  # versions our own requests taught us
        self.highest: dict[str, int] = {}
        self.listing: Listing | None = None
        self.page: list[bytes] = []
        self.told_until = 0

    def hear(self, old: Pod | None, new: Pod | None) -> None:
        pod = new or old
        assert pod is not None
        assert self.heard.get(pod.metadata.name) == (old.metadata.resource_version if old else None)
        if new:
            self.heard[new.metadata.name] = new.metadata.resource_version
        else:
            del self.heard[pod.metadata.name]

    def step(self) -> None:
        name = self.random.choice(NAMES)
        actions = [self.someone_acts, self.events_arrive if self.listing is None else self.an_item_arrives]
        actions.append(self.answers.pop(name) if name in self.answers else lambda: self.we_act(name))
        if self.random.random() < 0.1:
            actions = [self.begin_list if self.listing is None else self.end_list]
        self.random.choice(actions)()

    def someone_acts(self) -> None:
        name = self.random.choice(NAMES)
        if name in self.server.objects and self.random.random() < 0.4:
            self.server.delete(name)
        else:
            self.server.write(name, is_mine=self.random.random() < 0.8)

    def we_act(self, name: str) -> None:
        actions = [self.we_write, self.we_read_live]
        if name in self.server.objects:
            actions += [self.we_delete, self.we_delete]
        if name in self.server.objects and self.cache.get(("ns", name)) is not None:
            actions.append(self.we_relabel)
        self.random.choice(actions)(name)

    def we_write(self, name: str) -> None:
        new = self.server.write(name)
        self.answers[name] = lambda: self.learn_write(name, new)

    def we_relabel(self, name: str) -> None:
        new = self.server.write(name, is_mine=False)
        self.answers[name] = lambda: self.learn_write(name, new)

    def we_delete(self, name: str) -> None:
        former = self.server.delete(name)
        self.answers[name] = lambda: self.learn_deletion(name, former.uid)

    def we_read_live(self, name: str) -> None:
        since = self.cache.version(("ns", name))
        found = self.server.objects.get(name)
        body = body_of(name, found) if found else None
        self.answers[name] = lambda: self.cache.observed(pod_ref(name), body, since=since)

    def learn_write(self, name: str, new: Version) -> None:
        self.cache.written(pod_ref(name), body_of(name, new))
        self.known[name] = new.number

    def learn_deletion(self, name: str, uid: str) -> None:
        self.cache.deleted(pod_ref(name), uid)
        self.deleted_uids.add(uid)

    def events_arrive(self) -> None:
        untold = [pair for pair in self.server.log if pair[0] > self.told_until]
        for number, event in untold[: self.random.randint(1, 3)]:
            self.cache.watched("", event)
            self.told_until = number
        if not untold:
            self.cache.watched("", a_bookmark(self.server.number))
            self.told_until = self.server.number

    def begin_list(self) -> None:
        self.listing = self.cache.begin_list("", self.server.number)
        self.page = [body_of(name, found) for name, found in self.server.objects.items() if found.is_mine]

    def an_item_arrives(self) -> None:
        if self.listing is not None and self.page:
            self.cache.listed(self.listing, self.page.pop())

    def end_list(self) -> None:
        while self.page:
            self.an_item_arrives()
        if self.listing is not None:
            self.cache.end_list(self.listing)
            self.told_until = self.listing.version
        self.listing = None

    def check(self) -> None:
        for pod in self.cache.values():
            name, version = pod.metadata.name, int(pod.metadata.resource_version)
            assert version >= self.highest.get(name, 0), "the cache went back"
            assert pod.metadata.uid not in self.deleted_uids, "a deleted object came back"
            self.highest[name] = version
        for name, version in self.known.items():
            if self.server.left_at.get(name, 0) < version:
                assert self.cache.version(("ns", name)) >= version, "an own write was forgotten"
        assert self.heard == {pod.metadata.name: pod.metadata.resource_version for pod in self.cache.values()}

    def settle(self) -> None:
        for answer in self.answers.values():
            answer()
        self.end_list()
        while self.told_until < self.server.number:
            self.events_arrive()
        self.cache.watched("", a_bookmark(self.server.number))
        self.check()


@pytest.mark.parametrize("block", range(10))
def test_given_any_interleaving_then_the_cache_never_goes_back_and_ends_equal_to_the_server(block: int) -> None:
    for seed in range(block * RUNS, (block + 1) * RUNS):
        world = World(seed)
        world.begin_list()
        for _ in range(STEPS):
            world.step()
            world.check()
        world.settle()
        expected = {name: str(found.number) for name, found in world.server.objects.items() if found.is_mine}
        assert world.heard == expected, f"seed {seed}"
        assert world.cache._tombstones._floors == {}, f"seed {seed}"
