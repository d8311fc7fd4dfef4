"""How the objects of one engine look, for decisions that must not care how they are rendered."""

from dataclasses import dataclass
from typing import Protocol

import msgspec

from firebolt_operator.api.names import FIELD_MANAGER
from firebolt_operator.engine.config_map import engine_config_map
from firebolt_operator.engine.drift import find_drift
from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.last_answers import LastAnswers
from firebolt_operator.engine.services import engine_service, headless_service
from firebolt_operator.engine.statefulset import engine_statefulset
from firebolt_operator.engine.views import Child
from firebolt_operator.refs import Manifest


class Blueprint(Protocol):
    def config_map(self, generation: int, /) -> Manifest: ...
    def headless_service(self, generation: int, /) -> Manifest: ...
    def statefulset(self, generation: int, /) -> Manifest: ...
    def service(self, generation: int, /) -> Manifest: ...
    def drift(self, statefulset: Child, /) -> str | None:
        """How a live StatefulSet differs from what is wanted; None when it does not."""
        ...


@dataclass(frozen=True, slots=True)
class EngineBlueprint:
    """The real thing: renders from the engine's spec, its class and its instance."""

    inputs: EngineInputs

    def config_map(self, generation: int) -> Manifest:
        return engine_config_map(self.inputs, generation)

    def headless_service(self, generation: int) -> Manifest:
        return headless_service(self.inputs, generation)

    def statefulset(self, generation: int) -> Manifest:
        return engine_statefulset(self.inputs, generation)

    def service(self, generation: int) -> Manifest:
        return engine_service(self.inputs, generation)

    def drift(self, statefulset: Child) -> str | None:
        metadata: Manifest = {"labels": statefulset.metadata.labels, "annotations": statefulset.metadata.annotations}
        live = {"metadata": metadata, "spec": statefulset.spec}
        found = find_drift(live, self.inputs)
        if found is None or not statefulset.applied:
            return found
        # Only a difference makes it worth to look up what the API server may have dropped.
        fields = msgspec.json.decode(statefulset.applied)
        metadata["managedFields"] = [{"manager": FIELD_MANAGER, "operation": "Apply", "fieldsV1": fields}]
        return find_drift(live, self.inputs)


class Draughtsman:
    """Blueprints that look at a StatefulSet anew only when it, or what is asked for, has changed."""

    def __init__(self) -> None:
        self._drifts: LastAnswers[str | None] = LastAnswers()

    def __call__(self, inputs: EngineInputs) -> Blueprint:
        return _RememberedBlueprint(inputs, self._drifts)


@dataclass(frozen=True, slots=True)
class _RememberedBlueprint(EngineBlueprint):
    drifts: LastAnswers[str | None]

    def drift(self, statefulset: Child) -> str | None:
        metadata = statefulset.metadata
        live = (metadata.labels, metadata.annotations, statefulset.spec, statefulset.applied)
        return self.drifts.answer(
            self.inputs.uid, (self.inputs, live), lambda: EngineBlueprint(self.inputs).drift(statefulset)
        )
