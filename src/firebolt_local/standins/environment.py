"""Where does a stand-in listen, and how patient is it? As its image says, unless a test has other wishes."""

import os
from typing import Final

ADDRESS: Final = "STANDIN_ADDRESS"
EVERYWHERE: Final = "0.0.0.0"


def listen_address(default: str = EVERYWHERE) -> str:
    return os.environ.get(ADDRESS, default)


def whole_number(variable: str, default: int) -> int:
    return int(os.environ.get(variable, default))
