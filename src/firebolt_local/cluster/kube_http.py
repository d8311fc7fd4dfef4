"""How does this tool itself talk to an API server, with nothing but the standard library, and read what it answers?"""

import http.client
import json
import select
import ssl
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from firebolt_local.cluster.pki import KeyPair
from firebolt_local.errors import LocalError
from firebolt_operator.refs import Manifest

MERGE_PATCH = "application/merge-patch+json"
_JSON = "application/json"


class KubeRequestError(LocalError):
    """The API server answered, and the answer was no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Connection(http.client.HTTPSConnection):
    """Says goodbye when nobody keeps it any more."""

    def __del__(self) -> None:
        self.close()

    def is_usable(self) -> bool:
        """Nothing may come unasked: what does is the end, as of a server that was restarted."""
        if self.sock is None:
            return False
        poll = select.poll()
        poll.register(self.sock, select.POLLIN)
        return not poll.poll(0)


@dataclass(frozen=True, slots=True)
class KubeHttp:
    """Requests use the connections of earlier ones: the handshake is most of what a small one costs."""

    server: str
    tls: ssl.SSLContext
    timeout_seconds: float = 10
    _idle: list[_Connection] = field(default_factory=list[_Connection], init=False, repr=False, compare=False)

    @classmethod
    def with_certificate(cls, server: str, authority: Path, pair: KeyPair) -> "KubeHttp":
        tls = ssl.create_default_context(cafile=str(authority))
        tls.load_cert_chain(pair.certificate, pair.key)
        return cls(server, tls)

    def patient(self) -> "KubeHttp":
        """For requests that are a lot of work: the API server itself gives up after 60 s."""
        return replace(self, timeout_seconds=70)

    def get(self, path: str) -> Manifest:
        return self._json("GET", path)

    def create(self, path: str, manifest: Manifest) -> Manifest:
        return self._json("POST", path, manifest)

    def patch(self, path: str, change: Manifest) -> Manifest:
        return self._json("PATCH", path, change, MERGE_PATCH)

    def delete(self, path: str) -> Manifest:
        return self._json("DELETE", path)

    def text(self, method: str, path: str, body: str | None = None, content_type: str = _JSON) -> tuple[int, str]:
        connection = self._connection()
        answer = _exchange(connection, method, path, body, content_type)
        self._idle.append(connection)
        return answer

    def is_ready(self) -> bool:
        try:
            return self.text("GET", "/readyz")[0] == http.client.OK
        except (OSError, http.client.HTTPException):
            return False

    def _connection(self) -> _Connection:
        # Nobody else has what was taken from the list: threads share it.
        with suppress(IndexError):
            while True:
                if (kept := self._idle.pop()).is_usable():
                    return kept
        return _Connection(urlsplit(self.server).netloc, context=self.tls, timeout=self.timeout_seconds)

    def _json(self, method: str, path: str, body: Manifest | None = None, content_type: str = _JSON) -> Manifest:
        status, answer = self.text(method, path, None if body is None else json.dumps(body), content_type)
        if status >= http.client.BAD_REQUEST:
            raise KubeRequestError(status, f"{method} {path}: HTTP {status}: {answer}")
        result: Manifest = json.loads(answer)
        return result


def _exchange(
    connection: http.client.HTTPSConnection, method: str, path: str, body: str | None = None, content_type: str = _JSON
) -> tuple[int, str]:
    connection.request(method, path, body=body, headers={"Content-Type": content_type, "Accept": _JSON})
    response = connection.getresponse()
    return response.status, response.read().decode(errors="replace")


def has_condition(manifest: Manifest, kind: str) -> bool:
    """Whether an object's status says that this is true of it."""
    # Of a definition that was just made it says null.
    conditions: list[Manifest] = manifest.get("status", {}).get("conditions") or []
    return any(each["type"] == kind and each["status"] == "True" for each in conditions)
