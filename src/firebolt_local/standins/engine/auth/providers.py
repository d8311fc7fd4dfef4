"""Which tokens of others does an engine believe? Those that a provider's published keys have signed.

A provider is asked when it is needed, and what it says is kept for a while. What was known is better than nothing: a
provider that is away locks nobody out whose key is known.
"""

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final, get_args

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from firebolt_local.standins.engine.auth.config import Algorithm, Provider
from firebolt_local.standins.engine.auth.signing_keys import PublicKey
from firebolt_local.standins.engine.auth.tokens import Claims, Expected, Limits, TokenError, Unverified, verified
from firebolt_local.standins.engine.auth.users import User
from firebolt_local.standins.engine.durations import parse_duration

Fetch = Callable[[str], Awaitable[Any]]
_ALGORITHMS: Final = list(get_args(Algorithm))
_CLAIM: Final = re.compile(r"\{\{\s*([^{}\s]+)\s*\}\}")
_ASK_AGAIN_SECONDS: Final = 5  # for a key that nobody knows: strangers must not make us a nuisance

log = logging.getLogger(__name__)


class NoAnswerError(Exception):
    """The provider cannot be asked, for now, or says nothing of use."""


class Document:
    """Something that a provider publishes."""

    def __init__(self, fetch: Fetch, clock: Callable[[], float], *, kept_seconds: float) -> None:
        self._fetch, self._clock, self._kept_seconds = fetch, clock, kept_seconds
        self._content: Any = None
        self._fetched_at: float | None = None
        self._lock = asyncio.Lock()

    async def content(self, url: str, *, kept_seconds: float | None = None) -> Any:
        """As old as allowed; `kept_seconds` is for who has reason to want a newer one."""
        async with self._lock:
            limit = self._kept_seconds if kept_seconds is None else min(kept_seconds, self._kept_seconds)
            if self._fetched_at is None or self._clock() >= self._fetched_at + limit:
                await self._refresh(url)
            return self._content

    async def _refresh(self, url: str) -> None:
        try:
            self._content = await self._fetch(url)
        except NoAnswerError as err:
            if self._fetched_at is None:
                raise
            log.warning("going on with what is known of %s: %s", url, err)
        self._fetched_at = self._clock()


class TrustedProvider:
    def __init__(self, provider: Provider, limits: Limits, fetch: Fetch, clock: Callable[[], float]) -> None:
        self._provider, self._limits, self._clock = provider, limits, clock
        refresh, cached = parse_duration(provider.discovery.refresh_interval), parse_duration(provider.jwks.cache_ttl)
        self._discovery = Document(fetch, clock, kept_seconds=refresh.total_seconds())
        self._key_set = Document(fetch, clock, kept_seconds=cached.total_seconds())

    @property
    def name(self) -> str:
        return self._provider.name

    async def issuer(self) -> str:
        return str((await self._described())["issuer"])

    async def user(self, token: str, said: Unverified, *, resource: str, admin: str) -> User:
        key = await self._key(said.key_id)
        expected = Expected(
            issuer=await self.issuer(),
            audience=self._provider.audience or resource,
            algorithms=_ALGORITHMS,
            limits=self._limits,
        )
        claims = verified(token, key, expected, now=self._clock())
        return self._user(claims, admin)

    def _user(self, claims: Claims, admin: str) -> User:
        name = _CLAIM.sub(lambda found: _text_claim(claims, found[1]), self._provider.username_mapping)
        if name == admin:
            raise TokenError("a provider's token cannot stand for the administrator")
        if not self._provider.jit_provisioning.enabled:
            raise TokenError("no such user")
        return User(name, (*self._provider.jit_provisioning.default_roles, *self._mapped_roles(claims)))

    def _mapped_roles(self, claims: Claims) -> list[str]:
        """A closed table: what is not listed gives no role."""
        mapping = self._provider.role_mapping
        if mapping is None:
            return []
        claimed = claims.get(mapping.claim)
        values = claimed if isinstance(claimed, list) else [claimed]
        return [each.role for each in mapping.map if each.value in values]

    async def _key(self, key_id: str) -> PublicKey:
        url = str((await self._described())["jwks_uri"])
        found = _find(await self._key_set.content(url), key_id)
        if found is None:
            # It may have been rotated since.
            found = _find(await self._key_set.content(url, kept_seconds=_ASK_AGAIN_SECONDS), key_id)
        if found is None:
            raise TokenError(f"provider {self.name} has no key {key_id}")
        return found

    async def _described(self) -> dict[str, Any]:
        url = self._provider.trusted_discovery_url
        content = await self._discovery.content(url)
        if not isinstance(content, dict) or not {"issuer", "jwks_uri"} <= content.keys():
            raise NoAnswerError(f"{url}: no issuer or no jwks_uri")
        return content


def _find(key_set: Any, key_id: str) -> PublicKey | None:
    try:
        keys = jwt.PyJWKSet.from_dict(key_set).keys
    except (jwt.PyJWTError, AttributeError, TypeError) as err:
        raise NoAnswerError(f"not a key set: {err}") from err
    found = next((each.key for each in keys if each.key_id == key_id), None)
    return found if isinstance(found, ec.EllipticCurvePublicKey | rsa.RSAPublicKey) else None


def _text_claim(claims: Claims, name: str) -> str:
    value = claims.get(name)
    if not isinstance(value, str) or not value:
        raise TokenError(f"the token has no {name}")
    return value
