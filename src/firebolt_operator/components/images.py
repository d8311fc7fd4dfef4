"""When does a node pull an image again, if nobody said so?"""

import re
from typing import Final

ALWAYS: Final = "Always"
IF_NOT_PRESENT: Final = "IfNotPresent"

PART: Final = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
HOST: Final = r"[A-Za-z0-9.\-\[\]:]+"  # a registry's port is part of it, not a tag
REFERENCE: Final = re.compile(
    rf"(?:{HOST}/)?{PART}(?:/{PART})*(?::(?P<tag>\w[\w.-]{{0,127}}))?(?P<digest>@\w[\w+.-]*:[0-9a-fA-F]{{32,}})?",
    re.ASCII,
)


def pull_policy(image: str) -> str:
    """For images of others: only `latest`, said or meant, is a moving target."""
    reference = REFERENCE.fullmatch(image)
    if reference is None or reference["digest"]:
        return IF_NOT_PRESENT
    return ALWAYS if (reference["tag"] or "latest") == "latest" else IF_NOT_PRESENT


def workload_pull_policy(image: str) -> str:
    """For Firebolt's own images: the `dev` tag moves as well."""
    reference = REFERENCE.fullmatch(image)
    is_dev = reference is not None and reference["tag"] == "dev" and not reference["digest"]
    return ALWAYS if is_dev else pull_policy(image)
