"""Everything an instance pass needs from outside: caches, doors, clock, randomness. Injected once."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.auth.reconcile import AuthStep
from firebolt_operator.instance.identity import IdentityStep
from firebolt_operator.instance.observe.caches import InstanceCaches
from firebolt_operator.instance.observe.metrics import InstanceRecorder
from firebolt_operator.instance.render.renderer import MemoisedRenderers
from firebolt_operator.instance.views import SecretView
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.reconciling.warner import Warner
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.tls.reconcile import TLSStep


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceDependencies:
    caches: InstanceCaches
    secrets: SecretWatches[SecretView]
    reader: Reader
    writer: Writer
    warner: Warner
    recorder: InstanceRecorder
    auth: AuthStep
    identity: IdentityStep
    tls: TLSStep
    clock: Clock
    blueprints: MemoisedRenderers
    entropy: Callable[[int], bytes]  # so many unpredictable bytes
    operator_account: str = ""  # NAMESPACE/NAME; empty when nobody said
