"""What does an engine say about itself to those who want to get in? Everybody may ask this."""

import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from aiohttp import web

from firebolt_local.standins.engine.auth.config import LOCAL_SERVER, Auth, Provider
from firebolt_local.standins.engine.auth.local_server import LocalServer

TOKEN_PATH: Final = "/oauth/token"
KEYS_PATH: Final = "/oauth/jwks"
DESCRIPTION_PATH: Final = "/.well-known/firebolt"
_GRANT: Final = "client_credentials"
_NEVER_KEPT: Final = {"Cache-Control": "no-store", "Pragma": "no-cache"}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def token_handler(local: LocalServer, clock: Callable[[], float] = time.time) -> Handler:
    async def answer(request: web.Request) -> web.Response:
        form = {name: value for name, value in (await request.post()).items() if isinstance(value, str)}
        if refusal := _refusal(local, form):
            return refusal
        given = {
            "access_token": local.token(form["client_id"], now=clock()),
            "token_type": "Bearer",
            "expires_in": int(local.lifetime.total_seconds()),
        }
        return web.json_response(given, headers=_NEVER_KEPT)

    return answer


def _refusal(local: LocalServer, form: dict[str, str]) -> web.Response | None:
    """In the words of RFC 6749 and RFC 8707."""
    missing = [name for name in ("grant_type", "client_id", "client_secret", "resource") if not form.get(name)]
    if missing:
        return _error(400, "invalid_request", f"missing: {', '.join(missing)}")
    if form["grant_type"] != _GRANT:
        return _error(400, "unsupported_grant_type", f"the only grant is {_GRANT}")
    if not local.admits(form["client_id"], form["client_secret"]):
        return _error(401, "invalid_client", "no such user, or another password")
    if form["resource"] != local.resource:
        return _error(400, "invalid_target", f"the only resource is {local.resource}")
    return None


def _error(status: int, code: str, words: str) -> web.Response:
    return web.json_response({"error": code, "error_description": words}, status=status, headers=_NEVER_KEPT)


def keys_handler(local: LocalServer) -> Handler:
    published = local.keys.published()

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(published)

    return answer


def description_handler(instance_id: str, auth: Auth | None, resource: str) -> Handler:
    described = {"instance": {"id": instance_id, **({} if auth is None else {"auth": _auth(auth, resource)})}}

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(described)

    return answer


def _auth(auth: Auth, resource: str) -> dict[str, Any]:
    local = {"name": LOCAL_SERVER, "issuer": resource, "tokenEndpoint": TOKEN_PATH, "jwksUri": KEYS_PATH}
    return {
        "oauth": {
            "protectedResource": {"resource": resource},
            "authorizationServers": [local, *(_provider(each) for each in auth.providers)],
            "preferredAuthorizationServer": auth.preferred_authorization_server or LOCAL_SERVER,
        }
    }


def _provider(provider: Provider) -> dict[str, Any]:
    """Where a client logs in; where its token is believed is no business of the client's."""
    target = provider.target
    return {
        "name": provider.name,
        "title": provider.title or provider.name,
        "discoveryUrl": target.discovery_url if target is not None else provider.discovery_url,
    }
