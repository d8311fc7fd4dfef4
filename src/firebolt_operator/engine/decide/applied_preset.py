"""Which preset was the serving generation made with? As its StatefulSet says, so that an edit shows at promotion."""

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.engine.views import Child


def with_applied_preset(status: EngineStatus, statefulset: Child | None) -> EngineStatus:
    applied = statefulset.metadata.annotations.get(names.ANNOTATION_ENGINE_PRESET_HASH, "") if statefulset else ""
    name = names.PRESET_NAME if applied else ""
    return msgspec.structs.replace(status, applied_preset_name=name, applied_preset_hash=applied)
