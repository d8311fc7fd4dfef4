"""Which release is this?"""

from importlib.metadata import PackageNotFoundError, version

SOURCE_TREE = "0.1.0"


def current_version() -> str:
    try:
        return version("firebolt-operator")
    except PackageNotFoundError:
        return SOURCE_TREE
