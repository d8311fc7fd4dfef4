"""Which TCP port is free on loopback right now?"""

import socket

LOOPBACK = "127.0.0.1"


def free_port() -> int:
    """A port nobody holds now; whoever binds it later must be ready to find it taken and ask again."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        port: int = probe.getsockname()[1]
        return port
