"""How long may one call still wait before it is sent again?"""

import asyncio
from typing import Final

CALL_SECONDS: Final = 30.0
RETRY_DELAYS: Final = (0.1, 0.4, 1.6)  # seconds before each repetition, or what the server asks for if that is more
LONGEST_RETRY_AFTER: Final = 60.0  # seconds; a server that wants more gets the caller's back-off instead


class Pauses:
    """The deadline of one call, and the repetitions that it has left.

    What the server asks for is not the call's own time: the deadline moves on with it. Only a caller with a shorter
    deadline of its own has no time for that.
    """

    def __init__(self, timeout_seconds: float, *, can_repeat: bool) -> None:
        self.ends_at = _now() + timeout_seconds
        self._delays = iter(RETRY_DELAYS if can_repeat else ())
        self._patience = LONGEST_RETRY_AFTER if timeout_seconds >= CALL_SECONDS else 0.0

    async def pause(self, wanted: float = 0.0) -> bool:
        """Waits before a repetition; False, at once, if there shall be none."""
        delay = next(self._delays, None)
        if delay is None or wanted > LONGEST_RETRY_AFTER:
            return False
        delay, granted = max(delay, wanted), min(wanted, self._patience)
        if _now() + delay >= self.ends_at + granted:
            return False
        self._patience -= granted
        self.ends_at += granted
        await _rest(delay)
        return True


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _rest(seconds: float) -> None:
    await asyncio.sleep(seconds)
