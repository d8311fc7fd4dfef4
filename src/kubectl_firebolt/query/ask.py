"""One query over HTTP, and whatever goes wrong with it in words."""

import http.client
import socket
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

ENGINE_HEADER: Final = "X-Firebolt-Engine"
_HERE: Final = "127.0.0.1"
_HINTS: Final[Mapping[int, str]] = {
    http.HTTPStatus.UNAUTHORIZED: (
        "; the instance asks for a login: get a token, and give it with --header 'Authorization: Bearer ...'"
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrecy:
    """For a gateway that speaks TLS: it is reached by a port of this machine, and known by its name."""

    context: ssl.SSLContext
    server_name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    engine: str
    sql: str
    timeout_seconds: float
    headers: Sequence[tuple[str, str]] = ()
    secrecy: Secrecy | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    status: int  # 0 if there was none
    body: str

    @property
    def problem(self) -> str:
        """Empty for an answer."""
        words = " ".join(self.body.split())
        if self.status == http.HTTPStatus.OK:
            return ""
        return f"HTTP {self.status}: {words}{_HINTS.get(self.status, '')}" if self.status else words


def ask(question: Question, port: int) -> Reply:
    headers = dict(question.headers) | {ENGINE_HEADER: question.engine, "Content-Type": "text/plain"}
    connection = _connection(question, port)
    try:
        connection.request("POST", "/", question.sql.encode(), headers)
        response = connection.getresponse()
        return Reply(response.status, response.read().decode(errors="replace"))
    except ssl.SSLCertVerificationError as err:
        fix = "--ca names a file with its CA, --server-name what it is for"
        return Reply(0, f"the gateway's certificate is not believed: {err.verify_message}; {fix}")
    except (OSError, http.client.HTTPException) as err:
        return Reply(0, f"no answer: {err}")
    finally:
        connection.close()


def _connection(question: Question, port: int) -> http.client.HTTPConnection:
    if question.secrecy is None:
        return http.client.HTTPConnection(_HERE, port, timeout=question.timeout_seconds)
    return _SecretConnection(question.secrecy, port, question.timeout_seconds)


class _SecretConnection(http.client.HTTPSConnection):
    def __init__(self, secrecy: Secrecy, port: int, timeout: float) -> None:
        super().__init__(_HERE, port, timeout=timeout, context=secrecy.context)
        self._secrecy = secrecy

    def connect(self) -> None:
        plain = socket.create_connection((self.host, self.port), self.timeout)
        self.sock = self._secrecy.context.wrap_socket(plain, server_hostname=self._secrecy.server_name)
