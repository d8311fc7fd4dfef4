"""How far is it, and since when?"""

import time
from collections.abc import Callable


class Progress:
    def __init__(self, say: Callable[[str], None], monotonic: Callable[[], float] = time.monotonic) -> None:
        self._say = say
        self._monotonic = monotonic
        self._began_at = monotonic()

    def note(self, text: str) -> None:
        self._say(f"[{self._monotonic() - self._began_at:5.1f} s] {text}")
