"""How does the gateway find out that a peer is gone, when queries may be silent for hours? TCP asks, on both sides.

TCP_USER_TIMEOUT is not set: it would also cut a live peer that stops reading for a while. A peer that vanishes while
sent data is under way is found by the kernel's own limit on retransmissions.
"""

from typing import Final

from firebolt_operator.refs import Manifest

IDLE_SECONDS: Final = 60
INTERVAL_SECONDS: Final = 15
PROBES: Final = 4

# Linux numbers; Envoy takes options by number only.
SOL_SOCKET: Final = 1
SO_KEEPALIVE: Final = 9
IPPROTO_TCP: Final = 6
TCP_KEEPIDLE: Final = 4
TCP_KEEPINTVL: Final = 5
TCP_KEEPCNT: Final = 6


def listener_options() -> list[Manifest]:
    """Accepted connections inherit them from the listening socket."""
    return [
        _option("find clients that vanished", SOL_SOCKET, SO_KEEPALIVE, 1),
        _option("seconds of silence before the first probe", IPPROTO_TCP, TCP_KEEPIDLE, IDLE_SECONDS),
        _option("seconds between probes", IPPROTO_TCP, TCP_KEEPINTVL, INTERVAL_SECONDS),
        _option("probes without an answer", IPPROTO_TCP, TCP_KEEPCNT, PROBES),
    ]


def upstream_keepalive() -> Manifest:
    return {"keepalive_time": IDLE_SECONDS, "keepalive_interval": INTERVAL_SECONDS, "keepalive_probes": PROBES}


def _option(description: str, level: int, name: int, value: int) -> Manifest:
    return {"description": description, "level": level, "name": name, "int_value": value}
