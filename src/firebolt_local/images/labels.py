"""What does an image say about itself? Above all, whether it is what its name says."""

from typing import Final

_STANDARD: Final = "org.opencontainers.image"
STAND_IN: Final = "io.firebolt.local.stand-in"
BORROWED_NAME: Final = "io.firebolt.local.borrowed-name"


def ours(title: str, version: str) -> dict[str, str]:
    return {f"{_STANDARD}.title": title, f"{_STANDARD}.version": version, f"{_STANDARD}.licenses": "Apache-2.0"}


def stand_in(title: str, version: str) -> dict[str, str]:
    """Not Firebolt's software, whatever the name of the image says."""
    return {
        **ours(title, version),
        f"{_STANDARD}.description": "A stand-in for trying out the operator. Not Firebolt's software.",
        STAND_IN: "true",
    }


def borrowed_name(title: str, version: str) -> dict[str, str]:
    """The real program, in a version and from a source that the name of the image does not tell."""
    return {
        f"{_STANDARD}.title": title,
        f"{_STANDARD}.version": version,
        f"{_STANDARD}.description": f"{title} {version}, under the name that the operator renders by default.",
        BORROWED_NAME: "true",
    }
