"""What does the status of a guarded object say, and which engines does it count? One teller per kind with a status."""

from dataclasses import dataclass

from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.engineclass.decide.status import decide_preset_status, decide_status, is_news
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.reconciling.indexes import BY_CLASS, BY_NAMESPACE, term
from firebolt_operator.reconciling.status import ENGINE_CLASS_STATUS, ENGINE_PRESET_STATUS, put_status
from firebolt_operator.runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTeller:
    bounds: ResourceBounds
    reader: Reader
    writer: Writer
    clock: Clock

    def where(self, engine_class: FireboltEngineClass) -> tuple[str, str]:
        return BY_CLASS, term(engine_class.metadata.namespace, engine_class.metadata.name)

    async def tell(self, engine_class: FireboltEngineClass, bound_engines: int) -> None:
        status = decide_status(engine_class, bound_engines, bounds=self.bounds, now=self.clock.now())
        if is_news(engine_class.status, status):
            await put_status(ENGINE_CLASS_STATUS, engine_class, status, reader=self.reader, writer=self.writer)


@dataclass(frozen=True, slots=True, kw_only=True)
class PresetTeller:
    reader: Reader
    writer: Writer
    clock: Clock

    def where(self, preset: FireboltEnginePreset) -> tuple[str, str]:
        return BY_NAMESPACE, preset.metadata.namespace

    async def tell(self, preset: FireboltEnginePreset, bound_engines: int) -> None:
        status = decide_preset_status(preset, bound_engines, now=self.clock.now())
        if is_news(preset.status, status):
            await put_status(ENGINE_PRESET_STATUS, preset, status, reader=self.reader, writer=self.writer)
