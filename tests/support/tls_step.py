"""The step for TLS of operators that tests put together by hand: nobody runs its services."""

import random

from firebolt_operator.auth.reconcile import AuthStep
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.reconciling.issued_views import decode_gateway_secret
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.objects import Key
from firebolt_operator.tls.observe.observer import TLSObserver
from firebolt_operator.tls.reconcile import TLSStep
from firebolt_operator.wiring.transport_security import generation_authorities


def _nobody(instance: Key) -> None:
    del instance


def tls_step(reader: Reader, writer: Writer, clock: Clock, auth: AuthStep) -> TLSStep:
    """It shares Certificates and engines with the step for authentication."""
    following = Following(reader=reader, clock=clock, rng=random.Random(1))
    observer = TLSObserver(
        certificates=auth.observer.certificates,
        watches=SecretWatches("tls", decode_gateway_secret, following, _nobody),
        generations=generation_authorities(()),
        fleet=auth.observer.fleet,
        clock=clock,
    )
    return TLSStep(observer, CertificateWriter(auth.observer.certificates, writer))
