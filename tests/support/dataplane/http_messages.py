"""HTTP/1.1 messages as they arrive in pieces: just enough to play an engine, a client and an agent at full speed."""

from dataclasses import dataclass
from typing import Final

HEAD_END: Final = b"\r\n\r\n"


@dataclass(frozen=True, slots=True)
class Message:
    start: str  # request or status line
    headers: dict[str, str]  # names in lower case; repeated ones joined by a comma
    body: bytes

    @property
    def target(self) -> str:
        return self.start.split(" ", 2)[1]

    @property
    def status(self) -> int:
        return int(self.start.split(" ", 2)[1])


class MessageReader:
    """Collects bytes, and answers with a message as soon as one is complete. No pipelining."""

    def __init__(self, *, body_until_close: bool = False) -> None:
        self._received = bytearray()
        self._head: tuple[str, dict[str, str]] | None = None
        self._body_until_close = body_until_close

    @property
    def is_in_message(self) -> bool:
        return bool(self._received) or self._head is not None

    def feed(self, data: bytes) -> Message | None:
        self._received += data
        if self._head is None:
            end = self._received.find(HEAD_END)
            if end < 0:
                return None
            self._head = parse_head(bytes(self._received[:end]))
            del self._received[: end + len(HEAD_END)]
        return self._complete()

    def close(self) -> Message | None:
        """The peer sent its last byte: a body without a length ends here."""
        if self._head is None or not self._body_until_close or "content-length" in self._head[1]:
            return None
        return self._take(bytes(self._received))

    def _complete(self) -> Message | None:
        if self._head is None:
            return None
        headers = self._head[1]
        if "chunked" in headers.get("transfer-encoding", ""):
            body = unchunked(self._received)
            return None if body is None else self._take(body)
        length = headers.get("content-length")
        if length is None and self._body_until_close and self._head[0].startswith("HTTP/"):
            return None
        wanted = int(length or 0)
        if len(self._received) < wanted:
            return None
        return self._take(bytes(self._received[:wanted]))

    def _take(self, body: bytes) -> Message:
        if self._head is None:
            raise RuntimeError("a body without a head")
        start, headers = self._head
        self._head = None
        self._received.clear()
        return Message(start, headers, body)


def parse_head(head: bytes) -> tuple[str, dict[str, str]]:
    start, *lines = head.decode("latin-1").split("\r\n")
    headers: dict[str, str] = {}
    for line in lines:
        name, _, value = line.partition(":")
        key = name.lower()
        headers[key] = f"{headers[key]},{value.strip()}" if key in headers else value.strip()
    return start, headers


def unchunked(received: bytearray) -> bytes | None:
    """The whole body, or None while a chunk is missing."""
    body = bytearray()
    at = 0
    while True:
        line_end = received.find(b"\r\n", at)
        if line_end < 0:
            return None
        size = int(received[at:line_end], 16)
        begin, end = line_end + 2, line_end + 2 + size
        if len(received) < end + 2:
            return None
        if size == 0:
            return bytes(body)
        body += received[begin:end]
        at = end + 2


def answer(status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return f"HTTP/1.1 {status} Status\r\n{lines}content-length: {len(body)}\r\n\r\n".encode("latin-1") + body
