"""With which preset may an engine be rendered, and may it without one?"""

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine_preset import EnginePresetSpec, FireboltEnginePreset
from firebolt_operator.api.names import EngineClassReason, EngineReason
from firebolt_operator.engine.decide.gates import Refusal
from firebolt_operator.engine.inputs import PresetInfo
from firebolt_operator.policy.class_checks import check_preset_template
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.reconciling.verdicts import Verdict


def preset_gate(
    namespace: str, preset: FireboltEnginePreset | None, *, is_required: bool
) -> PresetInfo | Refusal | None:
    """A preset that is not fit for use blocks whether it is required or not: nobody meant it to be left out."""
    if preset is None:
        return _required(namespace) if is_required else None
    problem = _problem(preset)
    if problem:
        text = f'FireboltEnginePreset is not Ready: "{preset.metadata.name}" in namespace "{namespace}": {problem}'
        return Refusal(Verdict(status="False", reason=EngineReason.PRESET_UNREADY, message=text))
    spec = preset.spec or EnginePresetSpec(template={})
    return PresetInfo(name=preset.metadata.name, spec=spec, generation=preset.metadata.generation)


def _required(namespace: str) -> Refusal:
    text = f'FireboltEnginePreset is required in this namespace: namespace "{namespace}" has no FireboltEnginePreset'
    return Refusal(Verdict(status="False", reason=EngineReason.PRESET_REQUIRED, message=text))


def _problem(preset: FireboltEnginePreset) -> str:
    """What its controller said of this very spec, else what there is to say: an engine may come by first."""
    ready = find_condition(preset.status.conditions, names.CONDITION_READY)
    if ready is None or ready.observed_generation != preset.metadata.generation or ready.is_true:
        return aggregate(check_preset_template(preset.spec))
    return ready.message if ready.reason == EngineClassReason.OPERATOR_OWNED_FIELD_SET else ""
