"""What does this answer, or this silence, mean for us? The only place where HTTP becomes our errors."""

from typing import Final

import aiohttp
import msgspec

from firebolt_operator.errors import (
    AlreadyExistsError,
    ConflictError,
    ExpiredError,
    ForbiddenError,
    InvalidError,
    NotFoundError,
    OperatorError,
    RejectedError,
    TransientError,
    UnansweredError,
)
from firebolt_operator.kube.set_aside import Undecodable

QUOTE_LIMIT: Final = 512  # bytes of a foreign answer that go into a message
WORDS_LIMIT: Final = 4096  # characters of a Status: a pod that is asked through the API server can write one as well
# How the API server begins its answer to an apply with a field the schema lacks: a 500, though the fault is ours.
_UNKNOWN_FIELD: Final = "failed to create typed patch object"


class Status(msgspec.Struct, frozen=True):
    """The API server's own words (metav1.Status), as far as we read them."""

    message: str = ""
    reason: str = ""
    code: int = 0


def read_status(body: bytes) -> Status:
    """Anything that is not a Status (a proxy's HTML page, say) is quoted instead."""
    try:
        status = msgspec.json.decode(body, type=Status)
    except Undecodable:
        return Status(message=quoted(body))
    return Status(status.message[:WORDS_LIMIT] or quoted(body), status.reason, status.code)


def quoted(body: bytes) -> str:
    return body[:QUOTE_LIMIT].decode(errors="replace").strip() or "no explanation"


def refusal(doing: str, code: int, body: bytes, *, is_write: bool) -> OperatorError:
    """The error for an answer that is not a success."""
    status = read_status(body)
    words = f"{doing}: {status.message} (HTTP {code})"
    if code == 500 and status.message.startswith(_UNKNOWN_FIELD):
        return InvalidError(words, status=code, reason=status.reason)
    if code >= 500:
        # A 5xx says that something broke on the way, not whether the write was stored before it did.
        return UnansweredError(words) if is_write else TransientError(words)
    if code in {408, 429}:
        return TransientError(words)
    if code == 409 and status.reason != "AlreadyExists":
        return ConflictError(words)
    if code == 410:
        return ExpiredError(words)
    return _REJECTIONS.get(code, RejectedError)(words, status=code, reason=status.reason)


_REJECTIONS: Final[dict[int, type[RejectedError]]] = {
    400: InvalidError,  # what an admission webhook answers unless it chooses otherwise
    401: ForbiddenError,
    403: ForbiddenError,
    404: NotFoundError,
    409: AlreadyExistsError,
    413: InvalidError,
    422: InvalidError,
}


def silence(doing: str, cause: BaseException, *, may_have_happened: bool) -> TransientError:
    """The error for an attempt that brought no whole answer."""
    if may_have_happened:
        return UnansweredError(f"{doing}: sent, but not answered: {_in_words(cause)}")
    return TransientError(f"{doing}: {_in_words(cause)}")


def _in_words(cause: BaseException) -> str:
    match cause:
        case aiohttp.ClientConnectorCertificateError():
            return f"cannot trust {cause.host}:{cause.port}: {cause.certificate_error}"
        case aiohttp.ClientConnectorError():
            return f"cannot connect to {cause.host}:{cause.port}: {cause.os_error}"
        case aiohttp.ClientHttpProxyError():
            return f"the proxy refused to connect us: {cause.status} {cause.message}"
        case aiohttp.ConnectionTimeoutError():
            return "no connection in time"
        case TimeoutError():
            return "the deadline passed"
        case _:
            return str(cause) or type(cause).__name__


def watch_error(doing: str, body: bytes) -> OperatorError:
    """The error for an ERROR event inside a watch."""
    status = read_status(body)
    kind = ExpiredError if status.code == 410 else TransientError
    return kind(f"{doing}: {status.message} ({status.code})")
