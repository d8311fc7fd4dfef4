"""How long does somebody wait for something that has no event?"""

import time
from collections.abc import Callable

from firebolt_local.errors import LocalError

_LOOK_AGAIN_SECONDS = 0.05


def wait_until(is_there: Callable[[], bool], what: str, seconds: float = 30) -> None:
    deadline = time.monotonic() + seconds
    while not is_there():
        if time.monotonic() > deadline:
            raise LocalError(f"gave up waiting for {what} after {seconds:g} s; firebolt-local logs says why")
        time.sleep(_LOOK_AGAIN_SECONDS)
