"""How does a process die between two writes? From one write on it sends nothing more, answered or not."""

import asyncio
from enum import StrEnum

from firebolt_operator.errors import UnansweredError
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.transport import Answer, Call, Transport


class Ending(StrEnum):
    """What becomes of the process at the fatal write; the server has stored it in every case."""

    ANSWERED = "answered"  # gone once it has the answer
    UNANSWERED = "unanswered"  # gone without the answer
    SURVIVED = "survived"  # the answer is lost, the process goes on


class MortalTransport(Transport):
    """Every request that changes something passes here, events included."""

    def __init__(self, credentials: Credentials) -> None:
        super().__init__(credentials)
        self.writes: list[str] = []  # since it was armed
        self.struck = asyncio.Event()  # the fatal write is stored
        self._fatal = 0  # 0: immortal
        self._ending = Ending.ANSWERED
        self._is_dead = False

    def arm(self, fatal: int, ending: Ending) -> None:
        """Strike at that write from now on, counted from 1; 0 only counts."""
        self.writes.clear()
        self._fatal, self._ending = fatal, ending

    async def exchange(self, call: Call) -> Answer:
        if not call.is_write:
            return await super().exchange(call)
        if self._is_dead:
            await asyncio.Event().wait()
        self.writes.append(call.doing)
        is_fatal = len(self.writes) == self._fatal
        answer = await super().exchange(call)
        return self._strike(call, answer) if is_fatal else answer

    def _strike(self, call: Call, answer: Answer) -> Answer:
        self.struck.set()
        self._is_dead = self._ending is not Ending.SURVIVED
        if self._ending is Ending.ANSWERED:
            return answer
        raise UnansweredError(f"{call.doing}: sent, but not answered: the connection broke")
