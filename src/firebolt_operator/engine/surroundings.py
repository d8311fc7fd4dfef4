"""Everything an engine pass needs from outside: views, doors, clock, settings. Injected once."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.engine.act import Actor
from firebolt_operator.engine.blueprint import Blueprint, Draughtsman
from firebolt_operator.engine.caches import EngineCaches
from firebolt_operator.engine.gates import TemplateVerdict
from firebolt_operator.engine.inputs import EngineImages, EngineInputs
from firebolt_operator.engine.last_answers import LastAnswers
from firebolt_operator.engine.metrics import EngineRecorder
from firebolt_operator.engine.observe import Observer
from firebolt_operator.engine.scrape_places import ScrapePlaces
from firebolt_operator.engine.status_writer import write_status
from firebolt_operator.engine.sweep import Sweeper
from firebolt_operator.engine.unread_wakes import UnreadWakes
from firebolt_operator.engine.views import Child
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.observability.events import EventSender
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.refs import Ref, Warn
from firebolt_operator.runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    images: EngineImages
    bounds: ResourceBounds
    drain_settle: timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    caches: EngineCaches
    reader: Reader
    writer: Writer
    events: EventSender
    recorder: EngineRecorder
    clock: Clock
    settings: EngineSettings
    scrapes: ScrapePlaces
    blueprint: Callable[[EngineInputs], Blueprint] = field(default_factory=Draughtsman)
    template_verdicts: LastAnswers[TemplateVerdict] = field(default_factory=LastAnswers[TemplateVerdict])
    unread_wakes: UnreadWakes = field(default_factory=UnreadWakes)
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("firebolt_operator.engine"))

    @property
    def observer(self) -> Observer:
        return Observer(self.caches, self.reader)

    @property
    def actor(self) -> Actor:
        return Actor(self.writer, self.seen)

    @property
    def sweeper(self) -> Sweeper:
        return Sweeper(self.caches, self.reader, self.writer)

    def seen(self, ref: Ref) -> Child | None:
        return self.caches.child_cache(ref.resource).known((ref.namespace, ref.name))

    async def write_status(self, engine: FireboltEngine, status: EngineStatus) -> FireboltEngine:
        return await write_status(engine, status, reader=self.reader, writer=self.writer, now=self.clock.now())

    async def warn(self, engine: FireboltEngine, warning: Warn) -> None:
        ref = Ref(FIREBOLT_ENGINES, engine.metadata.namespace, engine.metadata.name)
        await self.events.warn(ref, engine.metadata.uid, warning, now=self.clock.now())
