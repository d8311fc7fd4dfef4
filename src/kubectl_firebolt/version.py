"""Which release of the plugin is this?"""

from importlib.metadata import PackageNotFoundError, version
from typing import Final

SOURCE_TREE: Final = "0.1.0"


def current_version() -> str:
    try:
        return version("kubectl-firebolt")
    except PackageNotFoundError:
        return SOURCE_TREE
