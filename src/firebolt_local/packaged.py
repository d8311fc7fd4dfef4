"""Where are the files that come with this program? In its packages; in the repository as links to where people look."""

from importlib.resources import files
from pathlib import Path


def packaged(package: str, *names: str) -> Path:
    """The target of a link, not the link: Helm complains about a chart that is one."""
    return Path(str(files(package))).joinpath(*names).resolve()
