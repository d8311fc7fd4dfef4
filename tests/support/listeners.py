"""What engines know of their certificates, for operators that tests put together by hand: nobody runs its service."""

import random

from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.engine.observe.listeners import ListenerReader
from firebolt_operator.kube.ports import Reader
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.following import Following
from firebolt_operator.runtime.optional_kind import OptionalKind


def listener_reader(caches: EngineCaches, reader: Reader, clock: Clock) -> ListenerReader:
    """On a cluster that has no cert-manager, until `certificates` is run or told that it has."""
    following = Following(reader=reader, clock=clock, rng=random.Random(1))
    certificates = OptionalKind(caches.certificates, following, None)
    certificates.discovered.set()
    return ListenerReader(certificates=certificates, secrets=caches.secrets, reader=reader)
