"""TLS, put together once: its Secrets by name, those of generations by label, and who is told of a change of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.reconciling.fleet import FleetReader
from firebolt_operator.reconciling.issued_views import (
    CertificateView,
    GenerationAuthority,
    decode_gateway_secret,
    decode_generation_authority,
)
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.tls.observe.observer import TLSObserver
from firebolt_operator.tls.reconcile import TLSStep
from firebolt_operator.wiring.factory import ControllerFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class TransportSecurity:
    step: TLSStep
    generations: Cache[GenerationAuthority]  # Secrets of all generations of engines

    @property
    def services(self) -> tuple[Service, ...]:
        return (self.step.observer.watches,)


def generation_authorities(namespaces: tuple[str, ...]) -> Cache[GenerationAuthority]:
    return Cache(SECRETS, decode_generation_authority, coverage=Coverage(namespaces=namespaces, labels=LABEL_ENGINE))


def build_transport_security(
    factory: ControllerFactory,
    engines: EngineCaches,
    certificates: OptionalKind[CertificateView],
    notify: Callable[[Key], None],
) -> TransportSecurity:
    """`notify` is told the key of an instance with a Secret that changed."""
    following = Following(reader=factory.client, clock=factory.clock, rng=random.Random())
    generations = generation_authorities(factory.settings.namespaces)
    observer = TLSObserver(
        certificates=certificates,
        watches=SecretWatches("secrets of TLS", decode_gateway_secret, following, notify),
        generations=generations,
        fleet=FleetReader(
            engines=engines.engines, statefulsets=engines.statefulsets, pods=engines.pods, reader=factory.client
        ),
        clock=factory.clock,
    )
    step = TLSStep(observer, CertificateWriter(certificates, factory.client))
    return TransportSecurity(step=step, generations=generations)
