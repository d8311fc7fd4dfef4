"""Authentication, put together once: its certificates, its Secrets, and who is told of a change of them."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_INSTANCE
from firebolt_operator.api.resources import CERTIFICATES, CUSTOM_RESOURCE_DEFINITIONS
from firebolt_operator.auth.act.writes import AuthActor
from firebolt_operator.auth.observe.observer import AuthObserver, AuthSecrets
from firebolt_operator.auth.reconcile import AuthStep
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.reconciling.fleet import FleetReader
from firebolt_operator.reconciling.issued_views import CertificateView, decode_certificate, decode_issued_secret
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.wiring.factory import ControllerFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class Authentication:
    certificates: OptionalKind[CertificateView]
    secrets: AuthSecrets
    step: AuthStep
    told: list[Callable[[Key], None]] = field(default_factory=list[Callable[[Key], None]])
    """Whoever wants to know the key of an instance with a Secret that changed."""

    @property
    def services(self) -> tuple[Service, ...]:
        return self.certificates, self.secrets.watches

    def whenever_cert_manager_turns(self, instances: Cache[FireboltInstance], add: Callable[[Key], None]) -> None:
        """Comes, or goes: those who wait for it look again."""

        def tell() -> None:
            for instance in instances.values():
                if instance.spec.asks_for_auth or instance.spec.tls is not None:
                    add((instance.metadata.namespace, instance.metadata.name))

        self.certificates.subscribe(tell)


def build_authentication(factory: ControllerFactory, engines: EngineCaches) -> Authentication:
    following = Following(reader=factory.client, clock=factory.clock, rng=random.Random())
    told = list[Callable[[Key], None]]()

    def notify(instance: Key) -> None:
        for tell in told:
            tell(instance)

    watches = SecretWatches("secrets of authentication", decode_issued_secret, following, notify)
    certificates = _certificates(factory, following)
    secrets = AuthSecrets(watches=watches)
    fleet = FleetReader(
        engines=engines.engines, statefulsets=engines.statefulsets, pods=engines.pods, reader=factory.client
    )
    observer = AuthObserver(certificates=certificates, secrets=secrets, fleet=fleet, clock=factory.clock)
    step = AuthStep(observer, AuthActor(CertificateWriter(certificates, factory.client), factory.client))
    return Authentication(certificates=certificates, secrets=secrets, step=step, told=told)


def _certificates(factory: ControllerFactory, following: Following) -> OptionalKind[CertificateView]:
    namespaces = factory.settings.namespaces
    coverage = Coverage(namespaces=namespaces, labels=LABEL_INSTANCE)
    cache = Cache(CERTIFICATES, decode_certificate, coverage=coverage)
    factory.client.add_observer(cache)
    factory.cache_metrics.shows(CERTIFICATES.plural, cache)
    # Definitions belong to no namespace: whoever is confined to some may not look at them.
    return OptionalKind(cache, following, None if namespaces else CUSTOM_RESOURCE_DEFINITIONS)
