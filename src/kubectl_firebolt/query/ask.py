"""One query over HTTP, and whatever goes wrong with it in words."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

ENGINE_HEADER: Final = "X-Firebolt-Engine"
_OK: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    url: str
    engine: str
    sql: str
    timeout_seconds: float
    headers: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Reply:
    status: int  # 0 if there was none
    body: str

    @property
    def problem(self) -> str:
        """Empty for an answer."""
        words = " ".join(self.body.split())
        return "" if self.status == _OK else f"HTTP {self.status}: {words}" if self.status else words


def ask(question: Question) -> Reply:
    headers = dict(question.headers) | {ENGINE_HEADER: question.engine, "Content-Type": "text/plain"}
    request = urllib.request.Request(question.url, data=question.sql.encode(), headers=headers, method="POST")  # noqa: S310 - http, by us
    try:
        with urllib.request.urlopen(request, timeout=question.timeout_seconds) as response:  # noqa: S310 - as above
            return Reply(response.status, response.read().decode(errors="replace"))
    except urllib.error.HTTPError as err:
        return Reply(err.code, err.read().decode(errors="replace"))
    except (OSError, http.client.HTTPException) as err:
        return Reply(0, f"no answer: {err}")
