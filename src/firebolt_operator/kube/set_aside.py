"""What is done with an object that the decoder cannot read? It is set aside alone, and everything else goes on.

The decoder recurses, so that an object of a few kilobytes, nested deeply enough, ends a whole list or watch with a
RecursionError. Then the text is taken apart without it, and of the culprit only what is shallow is kept.
"""

import asyncio
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import msgspec

from firebolt_operator.kube.scanning import Span, elements, members

MOST_LEVELS: Final = 64  # of what is kept: far below what any decoder takes, wherever it is called from
LARGE: Final = 1 << 16  # bytes; from there on scanning takes long enough to be done beside the event loop
# A RecursionError is no ValueError, and yet says nothing else than that this text cannot be decoded.
Undecodable: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)

_ANY: Final = msgspec.json.Decoder(msgspec.Raw)
_EVENT_BEGINS: Final = re.compile(rb'\s*{\s*"type"\s*:\s*"(\w+)"\s*,\s*"object"\s*:\s*')
T = TypeVar("T")


class SetAside(bytes):
    """What could be read of an object: its outline as JSON, with name, version, labels and owners.

    It proves that the object is there, and it may be counted and deleted. Nothing else may be decided from it, because
    what is missing in it is not missing in the object.
    """

    __slots__ = ()


def is_readable(text: bytes) -> bool:
    try:
        _ANY.decode(text)
    except Undecodable:
        return False
    return True


def outline(body: bytes) -> SetAside:
    """Raises ValueError if this is not even the outline of an object."""
    return SetAside(_object(_outlined(body, name, value) for name, value in members(body)))


def metadata_alone(body: bytes) -> SetAside:
    """Raises ValueError if there is none, or none that can be read. What follows after it may be cut off."""
    for name, value in members(body):
        if name == "metadata":
            return outline(_object(iter([_member(name, body[value.start : value.end])])))
    raise ValueError("an object has metadata")


def _outlined(body: bytes, name: str, value: Span) -> bytes:
    """Of metadata and spec each member counts by itself: one bad annotation does not take the name away."""
    text = body[value.start : value.end]
    if _is_shallow(text, value):
        return _member(name, text)
    if not text.startswith(b"{"):
        return b""
    return _member(name, _object(_kept(text, *each) for each in members(text)))


def _kept(text: bytes, name: str, value: Span) -> bytes:
    part = text[value.start : value.end]
    return _member(name, part) if _is_shallow(part, value) else b""


def _is_shallow(text: bytes, value: Span) -> bool:
    return value.depth <= MOST_LEVELS and _is_decodable(text)


def _is_decodable(text: bytes) -> bool:
    """Not only found, but read: a number may be too large, and a text none."""
    try:
        msgspec.json.decode(text)
        text.decode()
    except Undecodable:
        return False
    return True


def _member(name: str, text: bytes) -> bytes:
    return msgspec.json.encode(name) + b":" + text


def _object(parts: Iterator[bytes]) -> bytes:
    return b"{" + b",".join(part for part in parts if part) + b"}"


def split_list(body: bytes) -> tuple[bytes, list[bytes]]:
    """The list's own metadata, and its items, each of them readable; raises ValueError if this is no list."""
    metadata, items = b"{}", list[bytes]()
    for name, value in members(body):
        if name == "metadata":
            metadata = body[value.start : value.end]
        elif name == "items" and body[value.start : value.end] != b"null":
            items = [_readable(body[each.start : each.end]) for each in elements(body, value.start)]
    return metadata, items


def _readable(body: bytes) -> bytes:
    return body if is_readable(body) else outline(body)


def split_event(line: bytes) -> tuple[str, bytes]:
    """Type and object of a watch event, the object readable; raises ValueError if this is no event."""
    parts = {name: line[value.start : value.end] for name, value in members(line)}
    if not {"type", "object"} <= parts.keys():
        raise ValueError("an event has a type and an object")
    return msgspec.json.decode(parts["type"], type=str), _readable(parts["object"])


def split_cut_event(line: bytes) -> tuple[str, bytes]:
    """Of an event whose end is missing: type and metadata, which come first; raises ValueError if they do not."""
    found = _EVENT_BEGINS.match(line)
    if found is None:
        raise ValueError("an event begins with its type")
    return found[1].decode(), metadata_alone(line[found.end() :])


async def beside(work: Callable[[bytes], T], text: bytes) -> T:
    """Not on the event loop if it may take long."""
    return await asyncio.to_thread(work, text) if len(text) > LARGE else work(text)
