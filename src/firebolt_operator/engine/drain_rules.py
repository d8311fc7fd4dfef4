"""How does this engine drain: by its own settings, its class's, and the operator's?"""

from datetime import timedelta

from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.names import Rollout
from firebolt_operator.engine.draining import DrainRules
from firebolt_operator.engine.effective import (
    effective_drain_check_enabled,
    effective_drain_interval,
    effective_drain_timeout,
    effective_rollout,
)
from firebolt_operator.engine.inputs import ClassInfo


def effective_drain_rules(spec: EngineSpec, engine_class: ClassInfo | None, settle: timedelta) -> DrainRules:
    recreates = effective_rollout(spec, engine_class) is Rollout.RECREATE
    return DrainRules(
        is_skipped=recreates or not effective_drain_check_enabled(spec, engine_class),
        interval=effective_drain_interval(spec, engine_class),
        timeout=effective_drain_timeout(spec, engine_class),
        settle=settle,
    )
