"""Who hears about our writes? Everyone who registered, in that order."""

import asyncio
from collections.abc import Generator, Iterable
from contextlib import contextmanager

from firebolt_operator.errors import UnansweredError
from firebolt_operator.kube.ports import WriteObserver
from firebolt_operator.refs import Ref


class Observers:
    """Many observers as one."""

    def __init__(self, observers: Iterable[WriteObserver] = ()) -> None:
        self._observers = list(observers)

    def add(self, observer: WriteObserver) -> None:
        self._observers.append(observer)

    def written(self, ref: Ref, body: bytes, /) -> None:
        for observer in self._observers:
            observer.written(ref, body)

    def deleted(self, ref: Ref, uid: str, /) -> None:
        for observer in self._observers:
            observer.deleted(ref, uid)

    def unanswered(self, ref: Ref, /) -> None:
        for observer in self._observers:
            observer.unanswered(ref)

    @contextmanager
    def told_of_silence(self, ref: Ref) -> Generator[None]:
        """A write that is cancelled under way is as unanswered as one whose connection broke."""
        try:
            yield
        except (UnansweredError, asyncio.CancelledError):
            self.unanswered(ref)
            raise
