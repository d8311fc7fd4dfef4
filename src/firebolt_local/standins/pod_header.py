"""How does a stand-in tell which pod answered? In a header of its own, which the closed image does not have."""

from typing import Final

POD_HEADER: Final = "X-Standin-Pod"
