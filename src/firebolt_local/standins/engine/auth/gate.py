"""Who is behind a request? Its token says so; without one that is believed nobody gets in."""

import time
from collections.abc import Callable, Sequence
from typing import Final

import aiohttp
from aiohttp import web

from firebolt_local.standins.engine.auth.config import Auth
from firebolt_local.standins.engine.auth.local_server import LocalServer
from firebolt_local.standins.engine.auth.providers import Fetch, NoAnswerError, TrustedProvider
from firebolt_local.standins.engine.auth.tokens import Limits, TokenError, Unverified, peek
from firebolt_local.standins.engine.auth.users import ROLES_HEADER, USER_HEADER, User

_SCHEME: Final = "Bearer "
_USER: Final = web.RequestKey("user", User)


class Gate:
    def __init__(
        self, local: LocalServer, providers: Sequence[TrustedProvider] = (), clock: Callable[[], float] = time.time
    ) -> None:
        self.local, self._providers, self._clock = local, providers, clock

    async def let_in(self, request: web.Request) -> web.Response | None:
        """None, or the answer to somebody who has to stay outside."""
        header = request.headers.get("Authorization", "")
        if not header.startswith(_SCHEME):
            return _unauthorized("a token is needed: ask /oauth/token for one")
        try:
            request[_USER] = await self._user(header.removeprefix(_SCHEME))
        except (TokenError, NoAnswerError) as err:
            return _unauthorized(str(err), 'error="invalid_token"')
        return None

    async def _user(self, token: str) -> User:
        said = peek(token)
        if said.issuer == self.local.resource:
            return self.local.user(token, said, now=self._clock())
        provider = await self._provider_of(said)
        return await provider.user(token, said, resource=self.local.resource, admin=self.local.admin)

    async def _provider_of(self, said: Unverified) -> TrustedProvider:
        away = list[str]()
        for provider in self._providers:
            try:
                if await provider.issuer() == said.issuer:
                    return provider
            except NoAnswerError as err:
                away.append(f"{provider.name} cannot be asked: {err}")
        raise TokenError("; ".join([f"nobody knows the issuer {said.issuer}", *away]))


def trusted_providers(auth: Auth, fetch: Fetch, clock: Callable[[], float] = time.time) -> list[TrustedProvider]:
    if auth.oidc is None:
        return []
    limits = Limits.of(auth.oidc.jwt)
    return [TrustedProvider(each, limits, fetch, clock) for each in auth.oidc.providers]


def fetcher(session: aiohttp.ClientSession) -> Fetch:
    async def fetch(url: str) -> object:
        try:
            async with session.get(url, allow_redirects=False) as response:
                if response.status != 200:
                    raise NoAnswerError(f"{url}: HTTP {response.status}")
                return await response.json(content_type=None)
        except (aiohttp.ClientError, TimeoutError, ValueError) as err:
            raise NoAnswerError(f"{url}: {str(err) or type(err).__name__}") from err

    return fetch


async def tell_user(request: web.Request, response: web.StreamResponse) -> None:
    """Before an answer leaves: a test wants to know whom the engine took it for."""
    if user := request.get(_USER):
        response.headers[USER_HEADER] = user.name
        response.headers[ROLES_HEADER] = ",".join(user.roles)


def _unauthorized(words: str, detail: str = "") -> web.Response:
    challenge = f'Bearer realm="firebolt"{", " if detail else ""}{detail}'
    return web.Response(status=401, text=f"{words}\n", headers={"WWW-Authenticate": challenge})
