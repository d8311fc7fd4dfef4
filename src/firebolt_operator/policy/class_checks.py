"""What is wrong with a class?"""

from typing import Final

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.engine_preset import EnginePresetSpec
from firebolt_operator.policy.bounds import ResourceBounds, check_auto_stop_replicas
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.policy.config_size import check_config_size
from firebolt_operator.policy.disruption_budgets import check_disruption_budget
from firebolt_operator.policy.durations import ENGINE_FLOORS, check_durations
from firebolt_operator.policy.field_errors import FieldError, Path
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.policy.template_size import check_size
from firebolt_operator.refs import Manifest

SPEC: Final = Path("spec")
TEMPLATE: Final = SPEC.child("template")
CONFIG: Final = SPEC.child("customEngineConfig")


def check_shared_template(template: Manifest | None, config: Manifest | None = None) -> list[FieldError]:
    """What keeps engines from being rendered, except Secrets and bounds: what engines share knows no instance."""
    return [
        *(check_size(template, TEMPLATE) or check_owned_fields(template, TEMPLATE, ENGINE)),
        *check_config_size(config, {}, CONFIG),
    ]


def check_class_template(spec: EngineClassSpec | None) -> list[FieldError]:
    return check_shared_template(spec.template, spec.custom_engine_config) if spec else []


def check_preset_template(spec: EnginePresetSpec | None) -> list[FieldError]:
    return check_shared_template(spec.template, spec.custom_engine_config) if spec else []


def check_class_admission(spec: EngineClassSpec | None, bounds: ResourceBounds) -> list[FieldError]:
    """All that admission refuses, at once: whatever would have the class stalled."""
    if spec is None:
        return []
    policy = spec.auto_stop
    return [
        *check_class_template(spec),
        *check_durations(spec, SPEC, ENGINE_FLOORS),
        *(check_auto_stop_replicas(policy, SPEC.child("autoStop"), bounds) if policy else ()),
        *check_disruption_budget(spec.pod_disruption_budget, SPEC),
    ]
