"""Everything an instance pass needs from outside: caches, doors, clock, randomness. Injected once."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.instance.blueprint import BlueprintMemory
from firebolt_operator.instance.caches import InstanceCaches
from firebolt_operator.instance.metrics import InstanceRecorder
from firebolt_operator.instance.secret_watches import SecretWatches
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.observability.events import EventSender
from firebolt_operator.runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceSurroundings:
    caches: InstanceCaches
    secrets: SecretWatches
    reader: Reader
    writer: Writer
    events: EventSender
    recorder: InstanceRecorder
    clock: Clock
    blueprints: BlueprintMemory
    entropy: Callable[[int], bytes]  # so many unpredictable bytes
    operator_account: str = ""  # NAMESPACE/NAME; empty when nobody said
