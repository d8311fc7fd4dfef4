"""Which instance does a change concern? What no decision reads concerns nobody."""

from collections.abc import Iterable
from dataclasses import dataclass

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_INSTANCE
from firebolt_operator.instance.views import SecretView
from firebolt_operator.manifests.live_objects import LiveObject
from firebolt_operator.reconciling.issued_views import CertificateView, GenerationAuthority
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.controller import Requests
from firebolt_operator.runtime.objects import Aside, Key
from firebolt_operator.runtime.work_queue import Priority


def instance_changed(old: FireboltInstance | None, new: FireboltInstance | None) -> Requests:
    """Its status as well: a person may clear a phase there."""
    instance = new or old
    if instance is None:
        return ()
    return (((instance.metadata.namespace, instance.metadata.name), Priority.EVENT),)


def child_changed(old: LiveObject | SecretView | None, new: LiveObject | SecretView | None) -> Requests:
    child = new or old
    if child is None or (old is not None and new is not None and _what_counts(old) == _what_counts(new)):
        return ()
    name = child.metadata.labels.get(LABEL_INSTANCE, "")
    return (((child.metadata.namespace, name), Priority.EVENT),) if name else ()


def certificate_changed(old: CertificateView | None, new: CertificateView | None) -> Requests:
    """Its own bookkeeping is left out: cert-manager writes down when it will renew, and how often it tried."""
    found = new or old
    if found is None or (old is not None and new is not None and _asked(old) == _asked(new)):
        return ()
    return (((found.metadata.namespace, found.instance), Priority.EVENT),) if found.instance else ()


def _asked(certificate: CertificateView) -> object:
    return certificate.content, certificate.owned, certificate.issued, certificate.metadata.deletion_timestamp


@dataclass(frozen=True, slots=True)
class TLSFleet:
    """What changes of engines concern instances that have TLS, and nobody else."""

    engines: Cache[FireboltEngine]
    instances: Cache[FireboltInstance]

    def engine_changed(self, old: FireboltEngine | None, new: FireboltEngine | None) -> Requests:
        engine = new or old
        if engine is None or (old is not None and new is not None and _generations(old) == _generations(new)):
            return ()
        return self._instance_of(engine)

    def secret_changed(self, old: GenerationAuthority | None, new: GenerationAuthority | None) -> Requests:
        secret = new or old
        if secret is None or old == new:
            return ()
        engine = self.engines.get((secret.namespace, secret.engine))
        return self._instance_of(engine) if engine is not None else ()

    def _instance_of(self, engine: FireboltEngine) -> Requests:
        key = (engine.metadata.namespace, engine.spec.instance_ref if engine.spec else "")
        instance = self.instances.get(key)
        has_tls = instance is not None and (instance.spec.tls is not None or instance.status.engine_tls is not None)
        return ((key, Priority.EVENT),) if has_tls else ()


def _generations(engine: FireboltEngine) -> object:
    status = engine.status
    return status.current_generation, status.active_generation, status.draining_generation, status.phase


def aside_instance(aside: Aside) -> Iterable[Key]:
    return (aside.header.key,)


def aside_child(aside: Aside) -> Iterable[Key]:
    """Of an instance's child that cannot be decoded, its labels can."""
    name = aside.labels.get(LABEL_INSTANCE, "")
    return ((aside.header.metadata.namespace, name),) if name else ()


def _what_counts(child: LiveObject | SecretView) -> object:
    """All but the version: a Deployment counts its pods far more often than the count passes zero."""
    if isinstance(child, SecretView):
        return child.type, child.filled, child.username, child.database, child.metadata.uid
    counts = child.ready_replicas > 0, child.is_rolled_out
    return child.content, child.owned, counts, child.metadata.uid, child.metadata.deletion_timestamp
