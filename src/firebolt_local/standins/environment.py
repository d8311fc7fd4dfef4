"""Where does a stand-in listen? On its image's ports, unless a test has moved them."""

import os
from typing import Final

ADDRESS: Final = "STANDIN_ADDRESS"
EVERYWHERE: Final = "0.0.0.0"


def listen_address(default: str = EVERYWHERE) -> str:
    return os.environ.get(ADDRESS, default)


def listen_port(variable: str, default: int) -> int:
    return int(os.environ.get(variable, default))
