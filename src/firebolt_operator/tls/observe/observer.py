"""What is there of an instance's TLS? Asks caches, and the server where they are not to be relied on."""

from collections.abc import Iterator
from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.errors import RejectedError, TransientError, UnreadableError
from firebolt_operator.manifests.issued import Issued, IssuedSecret
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.tls_checks import check_tls
from firebolt_operator.reconciling.fleet import FleetReader, MadeFleet
from firebolt_operator.reconciling.issued_views import CertificateView, GenerationAuthority
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.tls import served
from firebolt_operator.tls.facts import GatewaySeen, Listeners, TLSSituation
from firebolt_operator.tls.observe.fleet import listeners, live_generations
from firebolt_operator.tls.render.engine_tls import engine_tls_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class TLSObserver:
    certificates: OptionalKind[CertificateView]
    watches: SecretWatches[IssuedSecret]
    generations: Cache[GenerationAuthority]
    fleet: FleetReader
    clock: Clock

    async def situation(self, instance: FireboltInstance, gateway: GatewaySeen, *, is_live: bool) -> TLSSituation:
        fleet, problem = await self._fleet(instance, is_live=is_live)
        spec_problem = aggregate(check_tls(instance))
        engines = served.engine_listener(instance)
        anchor = names.engine_tls_anchor_name(instance.metadata.name)
        wanted = live_generations(fleet, gateway.bundle)
        return TLSSituation(
            instance=instance,
            gateway=gateway,
            listeners=Listeners(problem=problem) if problem else listeners(fleet),
            # Whom we cannot list is not gone: all that is remembered stays.
            generations=self._authorities(instance, _remembered(gateway) if problem else wanted),
            expected_hash=engine_tls_hash(anchor, engines.cert_manager if engines else None),
            issued=await self._issued(instance, is_live=is_live),
            has_cert_manager=self.certificates.is_served,
            spec_problem=spec_problem,
            # Whole seconds, because a status keeps no more.
            now=self.clock.now().replace(microsecond=0),
        )

    def forget(self, instance: FireboltInstance) -> None:
        self.watches.forget((instance.metadata.namespace, instance.metadata.name))

    async def _fleet(self, instance: FireboltInstance, *, is_live: bool) -> tuple[MadeFleet, str]:
        namespace, name = instance.metadata.namespace, instance.metadata.name
        if not is_live:
            return self.fleet.known(namespace, name), ""
        try:
            return await self.fleet.live(namespace, name), ""
        except (TransientError, RejectedError) as err:
            return MadeFleet(), str(err)

    def _authorities(self, instance: FireboltInstance, generations: frozenset[str]) -> dict[str, str]:
        """The text of each one's CA; empty where there is none, or none that was issued for it."""
        return {name: self._authority(instance.metadata.namespace, name) for name in sorted(generations)}

    def _authority(self, namespace: str, name: str) -> str:
        try:
            found = self.generations.known((namespace, name))
        except UnreadableError:
            return ""
        return found.text if found is not None else ""

    async def _issued(self, instance: FireboltInstance, *, is_live: bool) -> dict[str, Issued]:
        namespace, found = instance.metadata.namespace, dict[str, Issued]()
        wanted = dict.fromkeys(_referenced(instance))
        key = (namespace, instance.metadata.name)
        self.watches.want(key, *(Ref(SECRETS, namespace, name) for name in wanted))
        for name in wanted:
            secret = await self.watches.read(Ref(SECRETS, namespace, name), is_live=is_live)
            found[name] = Issued(secret=secret)
        for name in _requested(instance):
            certificate = await self.certificates.read(Ref(CERTIFICATES, namespace, name), is_live=is_live)
            found[name] = Issued(certificate=certificate.issued if certificate else None, secret=found[name].secret)
        return found


def _remembered(gateway: GatewaySeen) -> frozenset[str]:
    return frozenset[str]().union(*(known.generations for known in gateway.bundle.authorities.values()))


def _requested(instance: FireboltInstance) -> Iterator[str]:
    """Certificates that we ask for ourselves; their Secrets have the same names."""
    engines, gateway = served.engine_listener(instance), served.gateway_listener(instance)
    if served.is_reencrypting(instance) or (engines is not None and engines.enabled):
        yield names.engine_tls_anchor_name(instance.metadata.name)
    if gateway is not None and gateway.enabled and gateway.cert_manager is not None:
        yield names.gateway_tls_name(instance.metadata.name)


def _referenced(instance: FireboltInstance) -> Iterator[str]:
    """Every Secret that something may be decided by."""
    yield from _requested(instance)
    if instance.status.gateway_tls is not None:
        yield instance.status.gateway_tls.secret_name
    for listener in (served.gateway_listener(instance), served.engine_listener(instance)):
        if listener is None or not listener.enabled:
            continue
        for reference in (listener.secret_ref, listener.client_ca_secret_ref, listener.crl_secret_ref):
            if reference is not None and reference.name:
                yield reference.name
