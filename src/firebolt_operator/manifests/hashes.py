"""When is content the same? Short hashes that annotations carry, so that a change of content is seen."""

import hashlib
from typing import Any, Final

import msgspec

HASH_LENGTH: Final = 16


def content_hash(text: str | bytes) -> str:
    content = text.encode() if isinstance(text, str) else text
    return short_hash(hashlib.sha256(content).hexdigest())


def short_hash(digest: str) -> str:
    """Enough of a digest to tell one content from the next."""
    return digest[:HASH_LENGTH]


def canonical_json(value: Any) -> bytes:
    """Equal values, equal bytes: the order of keys and the white space of the source do not matter."""
    return msgspec.json.encode(value, order="sorted")
