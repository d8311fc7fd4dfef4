"""Which TCP port is free on loopback, and stays so until somebody listens there?"""

import random
import socket
from collections import deque
from typing import Final

from firebolt_local.errors import LocalError

LOOPBACK = "127.0.0.1"
RANGE: Final = range(20_000, 30_000)
"""Below what the kernel gives to outgoing connections, any of which could take it, and below the ports of nodes."""
MOST_CLAIMS: Final = 500

_claims: Final = deque[socket.socket]()
"""For the life of this process: names that only one process at a time can hold, and that are gone with it."""


def free_port() -> int:
    """Nobody listens there, and nobody else who asks here gets it while this process lives."""
    first = random.randrange(len(RANGE))  # two processes seldom try the same one
    for step in range(len(RANGE)):
        port: int = RANGE[(first + step) % len(RANGE)]
        claim = _claimed(port)
        if claim is None:
            continue
        if _is_free(port):
            _keep(claim)
            return port
        claim.close()
    raise LocalError(f"no port of {RANGE.start}-{RANGE.stop - 1} is free")


def _keep(claim: socket.socket) -> None:
    if len(_claims) >= MOST_CLAIMS:
        _claims.popleft().close()
    _claims.append(claim)


def _claimed(port: int) -> socket.socket | None:
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        claim.bind(f"\0firebolt-local/port/{port}")
    except OSError:
        claim.close()
        return None
    return claim


def _is_free(port: int) -> bool:
    """On every address: some programs listen on all of them."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("", port))
        except OSError:
            return False
        return True
