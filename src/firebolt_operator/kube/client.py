"""The door itself: one object that reads, writes and watches, made from credentials."""

import random
from collections.abc import Iterable
from dataclasses import replace
from types import TracebackType
from typing import Self

from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.lease import LeaseClient
from firebolt_operator.kube.observers import Observers
from firebolt_operator.kube.ports import Fence, Leases, RequestRecorder, WriteObserver, Writer
from firebolt_operator.kube.reading import KubeReader
from firebolt_operator.kube.reviews import Reviews
from firebolt_operator.kube.transport import Transport
from firebolt_operator.kube.writing import KubeWriter, WriteRules
from firebolt_operator.refs import Resource


class KubeClient(KubeReader, KubeWriter):
    """Reader and Writer in one; `fenced` gives another one over the same connections."""

    def __init__(self, transport: Transport, kinds: Kinds, rules: WriteRules, rng: random.Random) -> None:
        KubeReader.__init__(self, transport, rng)
        KubeWriter.__init__(self, transport, kinds, rules)

    @classmethod
    def from_credentials(  # noqa: PLR0913 - the one place where everything comes together
        cls,
        credentials: Credentials,
        *,
        fence: Fence | None = None,
        observers: Iterable[WriteObserver] = (),
        recorder: RequestRecorder | None = None,
        limit: int = 64,
        kinds: Iterable[Resource] = (),
        rng: random.Random | None = None,
    ) -> Self:
        """Must run inside the event loop. Kinds that are not named here are discovered when first written."""
        transport = Transport(credentials, limit=limit, recorder=recorder)
        rules = WriteRules(fence=fence, observers=Observers(observers))
        return cls(transport, Kinds(transport, kinds), rules, rng or random.Random())

    def fenced(self, fence: Fence) -> "KubeClient":
        """The same door, but every write asks this fence first."""
        return KubeClient(self._transport, self._kinds, replace(self._rules, fence=fence), self._rng)

    def add_observer(self, observer: WriteObserver) -> None:
        """Also for every client that shares these connections through `fenced`."""
        self._rules.observers.add(observer)

    @property
    def unobserved(self) -> Writer:
        """For what no cache holds, such as Events: fenced like the rest, but nobody is told."""
        return KubeWriter(self._transport, self._kinds, replace(self._rules, observers=Observers()))

    @property
    def leases(self) -> Leases:
        return LeaseClient(self._transport, self._rules.field_manager)

    @property
    def reviews(self) -> Reviews:
        return Reviews(self._transport)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()
