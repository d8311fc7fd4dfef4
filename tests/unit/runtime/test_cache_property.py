"""Random interleavings of own writes, foreign writes, late answers, late events and relists: the cache never goes back.

The server is a list of versions per name. The watch tells its changes in order, but late, and goes on telling before,
between and after the pages of a list, which may break off anywhere. Answers to our own requests arrive at any time
after the request was served, at most one per name on its way (passes of one object do not overlap).
"""

import copy
import itertools
import random
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from firebolt_operator.errors import ExpiredError
from firebolt_operator.kube.ports import WatchEvent
from firebolt_operator.runtime.cache import Cache, Listing
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.objects import Header
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
    log: list[tuple[int, WatchEvent, frozenset[str]]] = field(  # the last: the uid, if it died
        default_factory=list[tuple[int, WatchEvent, frozenset[str]]]
    )
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
            event = an_event("MODIFIED" if was_seen else "ADDED", body_of(name, new))
            self.log.append((self.number, event, frozenset()))
            return
        self.left_at[name] = self.number
        if was_seen and former is not None:
            gone = Version(self.number, former.uid, former.is_mine)
            died = frozenset({former.uid}) if new is None else frozenset[str]()
            self.log.append((self.number, an_event("DELETED", body_of(name, gone)), died))


def body_of(name: str, version: Version) -> bytes:
    return a_body(name, version.number, uid=version.uid, labels=MINE if version.is_mine else {})


@dataclass
class List:
    """A list on its way: asked for, then taken at the server, then answered one item at a time."""

    version: int = 0  # 0: the server has not looked yet
    page: list[bytes] = field(default_factory=list[bytes])
    listing: Listing | None = None


class World:
    """A server, a cache, and everything that is on its way between them."""

    def __init__(self, seed: int, kind: type[Cache[Pod]] = Cache[Pod]) -> None:
        self.random = random.Random(seed)
        self.server = Server()
        self.cache = kind(PODS, decode_pod, coverage=Coverage(labels="mine=yes"))
        self.cache.subscribe(self.hear)
        self.heard: dict[str, str] = {}  # what a subscriber that only listens believes: name to version
        self.answers: dict[str, Callable[[], None]] = {}
        self.dead_uids: set[str] = set()  # as the cache was told, by us or by the watch
        self.known: dict[str, int] = {}  # versions our own requests taught us
        self.highest: dict[str, int] = {}
        self.list: List | None = None
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
        actions = [self.someone_acts, self.events_arrive]
        actions.append(self.answers.pop(name) if name in self.answers else lambda: self.we_act(name))
        if self.list is not None:
            actions.append(self.list_breaks_off if self.random.random() < 0.1 else self.list_goes_on)
        elif self.random.random() < 0.1:
            actions = [self.ask_for_list]
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
        self.dead_uids.add(uid)

    def events_arrive(self) -> None:
        if not self.cache.is_synced:
            return  # there is no watch before the first list
        untold = [entry for entry in self.server.log if entry[0] > self.told_until]
        for number, event, died in untold[: self.random.randint(1, 3)]:
            self.cache.watched("", event)
            self.dead_uids |= died
            self.told_until = number
        if not untold:
            self.cache.watched("", a_bookmark(self.server.number))
            self.told_until = self.server.number

    def ask_for_list(self) -> None:
        self.cache.expect_list("")
        self.list = List()

    def list_goes_on(self) -> None:
        under_way = self.list
        assert under_way is not None
        if under_way.version == 0:
            under_way.version = self.server.number
            found = self.server.objects.items()
            under_way.page = [body_of(name, version) for name, version in found if version.is_mine]
        elif under_way.listing is None:
            under_way.listing = self.cache.begin_list("", under_way.version)
        elif under_way.page:
            self.cache.listed(under_way.listing, under_way.page.pop())
        else:
            self.cache.end_list(under_way.listing)
            # The next watch begins at the watermark.
            self.told_until = max(self.told_until, under_way.version)
            self.list = None

    def list_breaks_off(self) -> None:
        self.list = None

    def end_list(self) -> None:
        while self.list is not None:
            self.list_goes_on()

    def check(self) -> None:
        for pod in self.cache.values():
            name, version = pod.metadata.name, int(pod.metadata.resource_version)
            assert version >= self.highest.get(name, 0), "the cache went back"
            assert pod.metadata.uid not in self.dead_uids, "a deleted object came back"
            self.highest[name] = version
        assert self.cache.watermark("") >= self.told_until, "the watermark went back"
        for name, version in self.known.items():
            if self.server.left_at.get(name, 0) < version:
                assert self.cache.version(("ns", name)) >= version, "an own write was forgotten"
        assert self.heard == {pod.metadata.name: pod.metadata.resource_version for pod in self.cache.values()}

    def settle(self) -> None:
        for answer in self.answers.values():
            answer()
        if self.list is None and not self.cache.is_synced:
            self.ask_for_list()
        self.end_list()
        while self.told_until < self.server.number:
            self.events_arrive()
        self.cache.watched("", a_bookmark(self.server.number))
        self.check()


def live(world: World, steps: int = STEPS) -> None:
    for _ in range(steps):
        world.step()
        world.check()


def settled(world: World) -> None:
    world.settle()
    assert world.heard == expected(world), "the cache differs from the server"
    assert world.cache._tombstones._floors == {}, "tombstones outlive what they hide"


def expected(world: World) -> dict[str, str]:
    return {name: str(found.number) for name, found in world.server.objects.items() if found.is_mine}


@pytest.mark.parametrize("block", range(10))
def test_given_any_interleaving_then_the_cache_never_goes_back_and_ends_equal_to_the_server(block: int) -> None:
    for seed in range(block * RUNS, (block + 1) * RUNS):
        world = World(seed)
        world.ask_for_list()
        live(world)
        settled(world)


def test_given_a_restored_backup_then_one_list_makes_the_cache_equal_to_the_server() -> None:
    for seed in range(RUNS):
        world = World(seed)
        world.ask_for_list()
        live(world, STEPS // 2)
        backup = copy.deepcopy(world.server)
        live(world, STEPS // 2)
        settled(world)
        lead = world.server.number - backup.number
        world.server = backup
        for _ in range(world.random.randint(0, max(lead - 1, 0))):
            world.someone_acts()
        world.ask_for_list()
        world.end_list()
        assert world.heard == expected(world), f"seed {seed}"


class AsksLate(Cache[Pod]):
    """Takes whatever the watch told before the first page for what was known when the list was asked for."""

    def expect_list(self, part: str) -> None:
        pass


class GoesOnWithABrokenList(Cache[Pod]):
    """Takes what a list had shown before it broke off for something that the next one shows."""

    def expect_list(self, part: str) -> None:
        if part not in self._listings:
            super().expect_list(part)


class ForgetsDeletions(Cache[Pod]):
    """An object that is deleted while its page is on its way comes back with that page."""

    def _removed(self, part: str, header: Header) -> None:
        super()._removed(part, header)
        if part in self._listings:
            self._listings[part].gone.clear()


class LowersItsWatermark(Cache[Pod]):
    """Believes at the end of a list that nothing newer is known."""

    def end_list(self, listing: Listing) -> None:
        super().end_list(listing)
        self._watermarks[listing.part] = listing.version


@pytest.mark.parametrize("fault", [AsksLate, GoesOnWithABrokenList, ForgetsDeletions, LowersItsWatermark])
def test_given_a_fault_about_lists_then_the_interleavings_find_it(fault: type[Cache[Pod]]) -> None:
    for seed in itertools.count():
        world = World(seed, fault)
        world.ask_for_list()
        try:
            live(world)
            settled(world)
        except (AssertionError, ExpiredError):
            break
        assert seed < RUNS, "not found"
