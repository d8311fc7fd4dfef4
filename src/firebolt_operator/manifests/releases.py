"""Is an image new enough for lower-case instance ids? Its tag alone tells; what no tag tells counts as too old."""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from firebolt_operator.manifests.images import has_digest, image_tag

FLOOR: Final = "release-5.0.0-pre.0.20260828194119.d0f954993097"
"""The first engine and metadata images that take a lower-case id; from here on engines refuse any other."""
ALWAYS_NEW: Final = "dev"
_RELEASE: Final = re.compile(
    r"(?:release|debug)-(\d{1,9})\.(\d{1,9})\.(\d{1,9})(?:-pre\.(\d{1,9})\.(\d{1,20})\.[0-9a-fA-F]+)?", re.ASCII
)


class Age(Enum):
    NEW = "at or above the floor"
    OLD = "below the floor"
    UNTOLD = "pinned by digest"  # without a tag nothing can be compared


@dataclass(frozen=True, slots=True, order=True)
class _Version:
    numbers: tuple[int, int, int]
    is_final: bool  # newer than whatever came before it
    preview: tuple[int, int] = (0, 0)  # its number and its time


def age(image: str, floor: str = FLOOR) -> Age:
    tag = image_tag(image)
    if not tag and has_digest(image):
        return Age.UNTOLD
    return Age.NEW if _is_new(tag, floor) else Age.OLD


def _is_new(tag: str, floor: str) -> bool:
    if tag in {floor, ALWAYS_NEW}:
        return True
    candidate, least = _version(tag), _version(floor)
    return candidate is not None and least is not None and candidate >= least


def _version(tag: str) -> _Version | None:
    match = _RELEASE.fullmatch(tag)
    if match is None:
        return None
    major, minor, patch, number, time = match.groups()
    numbers = (int(major), int(minor), int(patch))
    if number is None:
        return _Version(numbers, is_final=True)
    return _Version(numbers, is_final=False, preview=(int(number), int(time)))
