"""TLS of engines, put together once: their certificates, and who looks again when cert-manager comes or goes."""

import random
from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EnginePhase
from firebolt_operator.api.resources import CUSTOM_RESOURCE_DEFINITIONS
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engine.observe.listeners import ListenerReader
from firebolt_operator.engine.views import Child
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.wiring.factory import ControllerFactory


@dataclass(frozen=True, slots=True, kw_only=True)
class Encryption:
    certificates: OptionalKind[Child]
    listeners: ListenerReader

    def whenever_cert_manager_turns(self, engines: Cache[FireboltEngine], add: Callable[[Key], None]) -> None:
        """Only who makes a generation can be waiting for it."""

        def tell() -> None:
            for engine in engines.values():
                if engine.status.phase == EnginePhase.CREATING:
                    add((engine.metadata.namespace, engine.metadata.name))

        self.certificates.subscribe(tell)


def build_encryption(factory: ControllerFactory, caches: EngineCaches) -> Encryption:
    following = Following(reader=factory.client, clock=factory.clock, rng=random.Random())
    factory.client.add_observer(caches.certificates)
    factory.cache_metrics.shows("engine certificates", caches.certificates)
    # Definitions belong to no namespace: whoever is confined to some may not look at them.
    definitions = None if factory.settings.namespaces else CUSTOM_RESOURCE_DEFINITIONS
    certificates = OptionalKind(caches.certificates, following, definitions)
    listeners = ListenerReader(certificates=certificates, secrets=caches.secrets, reader=factory.client)
    return Encryption(certificates=certificates, listeners=listeners)
