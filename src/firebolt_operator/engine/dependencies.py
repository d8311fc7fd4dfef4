"""Everything the reconciler of engines is made of, put together once. Each room gets only the ports that it needs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.auth.observe.observer import AuthSecrets
from firebolt_operator.engine.act.budget import BudgetKeeper
from firebolt_operator.engine.act.status import StatusWriter
from firebolt_operator.engine.act.sweep import Sweeper
from firebolt_operator.engine.act.unread_wakes import UnreadWakes
from firebolt_operator.engine.act.writes import Actor
from firebolt_operator.engine.authentication import EngineAuthentication
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.decide.gates import TemplateVerdict
from firebolt_operator.engine.decide.rolling import REMEMBERED
from firebolt_operator.engine.encryption import EngineEncryption
from firebolt_operator.engine.inputs import EngineInputs, EngineSettings
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engine.observe.diagnosis import EventLookup
from firebolt_operator.engine.observe.listeners import ListenerReader
from firebolt_operator.engine.observe.metrics import EngineRecorder
from firebolt_operator.engine.observe.observer import Observer
from firebolt_operator.engine.observe.rolling_slots import RollingSlots
from firebolt_operator.engine.observe.scrape_lane import ScrapeLane
from firebolt_operator.engine.preconditions import Preconditions
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.observability.events import EventSender
from firebolt_operator.reconciling.memo import LastValueMemo
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.runtime.clock import Clock

Render = Callable[[EngineInputs], Blueprint]


@dataclass(frozen=True, kw_only=True)
class EngineDependencies:
    """What comes from outside, and the rooms that are made of it."""

    caches: EngineCaches
    reader: Reader
    writer: Writer
    events: EventSender
    recorder: EngineRecorder
    clock: Clock
    settings: EngineSettings
    scrapes: ScrapeLane
    blueprint: Render
    auth: AuthSecrets
    listeners: ListenerReader
    unread_wakes: UnreadWakes = field(default_factory=UnreadWakes)

    @cached_property
    def warner(self) -> Warner:
        return Warner(FIREBOLT_ENGINES, self.events, self.clock)

    @cached_property
    def observer(self) -> Observer:
        return Observer(self.caches, self.reader)

    @cached_property
    def preconditions(self) -> Preconditions:
        return Preconditions(
            observer=self.observer,
            instances=self.caches.instances,
            settings=self.settings,
            warner=self.warner,
            verdicts=LastValueMemo[TemplateVerdict](),
            auth=EngineAuthentication(self.auth),
            encryption=EngineEncryption(self.listeners),
        )

    @cached_property
    def rolling(self) -> RollingSlots:
        return RollingSlots(
            engines=self.caches.engines,
            most=self.settings.max_rolling,
            default_image=self.settings.images.engine,
            clock=self.clock,
            is_forgotten=lambda: self.statuses.drops(*REMEMBERED),
        )

    @cached_property
    def event_lookup(self) -> EventLookup:
        return EventLookup(self.reader, self.recorder)

    @cached_property
    def actor(self) -> Actor:
        return Actor(self.writer, self.caches.child)

    @cached_property
    def budgets(self) -> BudgetKeeper:
        return BudgetKeeper(self.observer, self.actor)

    @cached_property
    def statuses(self) -> StatusWriter:
        return StatusWriter(self.reader, self.writer, self.clock, self.warner)

    @cached_property
    def sweeper(self) -> Sweeper:
        return Sweeper(self.caches, self.reader, self.writer)
