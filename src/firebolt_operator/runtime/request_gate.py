"""Where does a request end? No half of a head reaches the parser, and no request before the last one is answered.

The parser of the HTTP library keeps what it is sent: heads without end, and requests queued behind one under way. Here
both are counted first. Only what bounds memory is looked at; whether a request is well-formed is the parser's to say.
"""

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

END_OF_HEAD: Final = b"\r\n\r\n"
LONGEST_LENGTH: Final = 20  # characters; more than that is no length, and the parser says so


class RefusedRequestError(Exception):
    def __init__(self, status: HTTPStatus) -> None:
        super().__init__(status.phrase)
        self.status = status


@dataclass(slots=True)
class RequestGate:
    most_held: int  # bytes of a head, or of what comes before its turn
    _held: bytearray = field(default_factory=bytearray, init=False)
    _searched: int = field(default=0, init=False)  # so many bytes of it are known not to end a head
    _body_left: int = field(default=0, init=False)
    _is_under_way: bool = field(default=False, init=False)

    @property
    def is_reading_head(self) -> bool:
        return not self._is_under_way and bool(self._held)

    def received(self, data: bytes) -> bytes:
        """What the parser may have of it now; raises RefusedRequestError for more than anybody has to say."""
        body = data[: self._body_left]
        self._body_left -= len(body)
        self._held += data[len(body) :]
        return body + self._released()

    def answered(self) -> bytes:
        """The next request, if it has come in the meantime."""
        self._is_under_way = False
        return self._released()

    def _released(self) -> bytes:
        if not self._is_under_way and not self._body_left:
            return self._next_request()
        if len(self._held) > self.most_held:
            raise RefusedRequestError(HTTPStatus.TOO_MANY_REQUESTS)
        return b""

    def _next_request(self) -> bytes:
        if not self._searched:  # the parser skips empty lines before a request: they end no head
            self._held = self._held.lstrip(b"\r\n")
        found = self._held.find(END_OF_HEAD, self._searched)
        self._searched = max(len(self._held) - len(END_OF_HEAD) + 1, 0)
        end = found + len(END_OF_HEAD) if found >= 0 else len(self._held)
        if end > self.most_held:
            raise RefusedRequestError(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        return self._with_head(end) if found >= 0 else b""

    def _with_head(self, end: int) -> bytes:
        length = body_length(bytes(self._held[:end]))
        request = bytes(self._held[: end + length])
        del self._held[: end + length]
        self._body_left = end + length - len(request)
        self._searched = 0
        self._is_under_way = True
        return request


def body_length(head: bytes) -> int:
    """How many bytes follow the head; raises RefusedRequestError for a body that does not say it beforehand."""
    length = 0
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"transfer-encoding":
            raise RefusedRequestError(HTTPStatus.LENGTH_REQUIRED)
        if name.lower() == b"content-length" and value.strip().isdigit() and len(value) <= LONGEST_LENGTH:
            length = length or int(value)
    return length
