"""The objects of one engine, rendered from its spec, its class and its instance."""

from collections.abc import Collection
from dataclasses import dataclass

import msgspec

from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.engine.blueprint import Blueprint
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.config_map import engine_config_map
from firebolt_operator.engine.render.disruption_budget import disruption_budget
from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.engine.render.services import engine_service, headless_service
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.engine.views import Child
from firebolt_operator.reconciling.memo import LastValueMemo
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.render.certificates import generation_certificate


@dataclass(frozen=True, slots=True)
class EngineRenderer:
    inputs: EngineInputs

    def certificates(self, generation: int) -> tuple[Manifest, ...]:
        listener = self.inputs.instance.listener
        return () if listener is None else (generation_certificate(self.inputs.owner, generation, listener.asked),)

    def config_map(self, generation: int) -> Manifest:
        return engine_config_map(self.inputs, generation)

    def headless_service(self, generation: int) -> Manifest:
        return headless_service(self.inputs, generation)

    def statefulset(self, generation: int) -> Manifest:
        return engine_statefulset(self.inputs, generation)

    def service(self, generation: int) -> Manifest:
        return engine_service(self.inputs, generation)

    def disruption_budget(self, generations: Collection[int], most: int | str) -> Manifest:
        return disruption_budget(self.inputs, generations, most)

    def drift(self, statefulset: Child) -> str | None:
        metadata: Manifest = {"labels": statefulset.metadata.labels, "annotations": statefulset.metadata.annotations}
        live = {"metadata": metadata, "spec": statefulset.whole_spec()}
        found = find_drift(live, self.inputs)
        if found is None or not statefulset.applied:
            return found
        # Only a difference makes it worth to look up what the API server may have dropped.
        fields = msgspec.json.decode(statefulset.applied)
        metadata["managedFields"] = [{"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}]
        return find_drift(live, self.inputs)


class MemoisedRenderer:
    """Blueprints that look at a StatefulSet anew only when it, or what is asked for, has changed."""

    def __init__(self) -> None:
        self._drifts: LastValueMemo[str | None] = LastValueMemo()

    def __call__(self, inputs: EngineInputs) -> Blueprint:
        return _MemoisedEngineRenderer(inputs, self._drifts)


@dataclass(frozen=True, slots=True)
class _MemoisedEngineRenderer(EngineRenderer):
    drifts: LastValueMemo[str | None]

    def drift(self, statefulset: Child) -> str | None:
        metadata = statefulset.metadata
        live = (metadata.labels, metadata.annotations, statefulset.spec, statefulset.template, statefulset.applied)
        return self.drifts.value(
            self.inputs.uid, (self.inputs, live), lambda: EngineRenderer(self.inputs).drift(statefulset)
        )
