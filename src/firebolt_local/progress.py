"""How far is it, since when, and how long does somebody wait for what has no event?"""

import time
from collections.abc import Callable

from firebolt_local.errors import LocalError

_LOOK_AGAIN_SECONDS = 0.05


class Progress:
    def __init__(self, say: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._monotonic = monotonic
        self._began_at = monotonic()

    def note(self, text: str) -> None:
        self._say(f"[{self._monotonic() - self._began_at:5.1f} s] {text}")


def wait_until(is_there: Callable[[], bool], what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > deadline:
            raise LocalError(f"gave up waiting for {what} after {seconds:g} s; firebolt-local logs says why")
        time.sleep(_LOOK_AGAIN_SECONDS)
