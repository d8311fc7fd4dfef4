"""The step for authentication of operators that tests put together by hand: nobody runs its services."""

import random

from firebolt_operator.api.resources import CERTIFICATES
from firebolt_operator.auth.act.writes import AuthActor
from firebolt_operator.auth.observe.observer import AuthObserver, AuthSecrets
from firebolt_operator.auth.reconcile import AuthStep
from firebolt_operator.engine.observe.caches import engine_caches
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.reconciling.fleet import FleetReader
from firebolt_operator.reconciling.issued_views import decode_certificate, decode_issued_secret
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import Key
from firebolt_operator.runtime.optional_kind import OptionalKind


def _nobody(instance: Key) -> None:
    del instance


def auth_secrets(reader: Reader, clock: Clock) -> AuthSecrets:
    following = Following(reader=reader, clock=clock, rng=random.Random(1))
    watches = SecretWatches("auth", decode_issued_secret, following, _nobody)
    return AuthSecrets(watches=watches)


def auth_step(reader: Reader, writer: Writer, clock: Clock) -> AuthStep:
    """On a cluster that has no cert-manager, until `observer.certificates` is run."""
    following = Following(reader=reader, clock=clock, rng=random.Random(1))
    certificates = OptionalKind(Cache(CERTIFICATES, decode_certificate), following, None)
    certificates.discovered.set()
    engines = engine_caches((), "")
    fleet = FleetReader(engines=engines.engines, statefulsets=engines.statefulsets, pods=engines.pods, reader=reader)
    secrets = auth_secrets(reader, clock)
    observer = AuthObserver(certificates=certificates, secrets=secrets, fleet=fleet, clock=clock)
    return AuthStep(observer, AuthActor(CertificateWriter(certificates, writer), writer))
