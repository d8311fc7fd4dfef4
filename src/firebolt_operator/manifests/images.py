"""When is an image pulled again? Decided by its tag, the way Kubernetes and container tools read image names."""

import re
from typing import Final

ALWAYS: Final = "Always"
IF_NOT_PRESENT: Final = "IfNotPresent"
LATEST: Final = "latest"
MOVING_TAGS: Final = frozenset({LATEST, "dev"})

_DOMAIN_PART: Final = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?"
_DOMAIN: Final = rf"(?:{_DOMAIN_PART}(?:\.{_DOMAIN_PART})*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?"
_PATH_PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_IMAGE: Final = re.compile(
    rf"(?:{_DOMAIN}/)?{_PATH_PART}(?:/{_PATH_PART})*"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?"
    r"(?P<digest>@(?:sha256:[0-9a-f]{64}|sha384:[0-9a-f]{96}|sha512:[0-9a-f]{128}))?",
    re.ASCII,
)
_IMAGE_ID: Final = re.compile(r"[0-9a-f]{64}")
_LONGEST: Final = 1024  # characters; container tools take 255 for the name, and some for the rest


def _read(image: str) -> re.Match[str] | None:
    return _IMAGE.fullmatch(image) if len(image) <= _LONGEST else None


def image_tag(image: str) -> str:
    """The tag that counts: `latest` where neither tag nor digest is given, empty where the name cannot be read."""
    match = _read(image)
    if match is None or _IMAGE_ID.fullmatch(image):
        return ""
    if match["tag"] is None and match["digest"] is None:
        return LATEST
    return match["tag"] or ""


def names_a_version(image: str) -> bool:
    """Whether a tag or a digest says which image is meant; what cannot be read is left to Kubernetes."""
    match = _read(image)
    if match is None or _IMAGE_ID.fullmatch(image):
        return True
    return match["tag"] is not None or match["digest"] is not None


def has_digest(image: str) -> bool:
    match = _read(image)
    return match is not None and match["digest"] is not None


def kubernetes_pull_policy(image: str) -> str:
    """What the API server fills in for a container that names no policy; it looks at the tag even beside a digest."""
    return ALWAYS if image_tag(image) == LATEST else IF_NOT_PRESENT


def engine_pull_policy(image: str) -> str:
    """For the engine itself `dev` moves as well."""
    return ALWAYS if image_tag(image) in MOVING_TAGS else IF_NOT_PRESENT


def component_pull_policy(image: str) -> str:
    """What we choose for images of others: a digest stands still, whatever tag is beside it."""
    return IF_NOT_PRESENT if has_digest(image) else kubernetes_pull_policy(image)


def workload_pull_policy(image: str) -> str:
    """The same for Firebolt's own components."""
    return IF_NOT_PRESENT if has_digest(image) else engine_pull_policy(image)
