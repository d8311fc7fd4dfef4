"""How does a client stay logged in? It asks for its next token well before the last one ends, and never meanwhile.

A client that waited until its token is refused would count the refusal as a lost query, and be right.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import aiohttp

ENGINE_HEADER: Final = "X-Firebolt-Engine"
_DESCRIPTION: Final = "/.well-known/firebolt"
_TOKEN: Final = "/oauth/token"
_OK: Final = 200
_FRESH_SHARE: Final = 2 / 3


class LoginError(Exception):
    """No token is to be had, for now or with this password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """`url` is the gateway's, or an engine's own."""

    url: str
    engine: str
    password: str
    user: str = "firebolt"


@dataclass(frozen=True, slots=True)
class _Held:
    token: str
    stale_at: float
    ends_at: float


class Tokens:
    """One login, shared by all queries of a client; `clock` counts seconds."""

    def __init__(
        self, session: aiohttp.ClientSession, login: Login, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._session, self._login, self._clock = session, login, clock
        self._held: _Held | None = None
        self._lock = asyncio.Lock()
        self.given = 0

    async def header(self) -> dict[str, str]:
        """What a query carries."""
        return {"Authorization": f"Bearer {await self.current()}"}

    async def current(self) -> str:
        held = self._held
        if held is None or (self._clock() >= held.stale_at and not self._lock.locked()):
            held = await self._renewed()
        return held.token

    async def _renewed(self) -> _Held:
        async with self._lock:
            held = self._held
            if held is not None and self._clock() < held.stale_at:
                return held
            try:
                self._held = await self._asked_for()
            except LoginError:
                # The one before is as good as ever until it ends.
                if held is None or self._clock() >= held.ends_at:
                    raise
                return held
            return self._held

    async def _asked_for(self) -> _Held:
        asked_at = self._clock()
        described = await self._json("GET", _DESCRIPTION)
        form = {
            "grant_type": "client_credentials",
            "client_id": self._login.user,
            "client_secret": self._login.password,
            "resource": described["instance"]["auth"]["oauth"]["protectedResource"]["resource"],
        }
        given = await self._json("POST", _TOKEN, data=form)
        self.given += 1
        seconds: int = given["expires_in"]
        return _Held(given["access_token"], asked_at + seconds * _FRESH_SHARE, asked_at + seconds)

    async def _json(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        url = f"{self._login.url.rstrip('/')}{path}"
        try:
            async with self._session.request(
                method, url, headers={ENGINE_HEADER: self._login.engine}, **content
            ) as response:
                if response.status != _OK:
                    raise LoginError(f"{path}: HTTP {response.status}: {(await response.text())[:200].strip()}")
                answer: dict[str, Any] = await response.json()
                return answer
        except (aiohttp.ClientError, OSError, TimeoutError) as err:
            raise LoginError(f"{path}: {type(err).__name__}: {err}") from err
