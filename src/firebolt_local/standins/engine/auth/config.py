"""What does an engine accept in the section `instance.auth`? No empty texts, and nothing that contradicts itself."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Annotated, Final, Literal

import msgspec

from firebolt_local.standins.engine.durations import parse_duration
from firebolt_local.standins.strict_files import ConfigError, Section, Text

LOCAL_SERVER: Final = "_local"
DEFAULT_ADMIN: Final = "firebolt"
_HTTPS: Final = "https://"
Algorithm = Literal["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"]
Url = Annotated[str, msgspec.Meta(pattern=f"^{_HTTPS}.+")]
ProviderName = Annotated[str, msgspec.Meta(pattern="^[^_].*$")]


class AdminUser(Section, frozen=True):
    password_file: Text
    name: Text = DEFAULT_ADMIN


class SigningKey(Section, frozen=True):
    id: Text
    private_key_path: Text


class TokenChecks(Section, frozen=True):
    max_token_age: Text = "1d"
    clock_skew_tolerance: Text = "30s"


class TokenTimes(TokenChecks, frozen=True):
    token_expiry: Text = "1h"


class LocalUsers(Section, frozen=True):
    signing_keys: Annotated[list[SigningKey], msgspec.Meta(min_length=1)]
    signing_algorithm: Algorithm = "RS256"
    jwt: TokenTimes = TokenTimes()


class Provisioning(Section, frozen=True):
    enabled: bool
    default_roles: list[Text] = msgspec.field(default_factory=lambda: ["public"])


class KeySet(Section, frozen=True):
    cache_ttl: Text = "1h"


class Discovery(Section, frozen=True):
    refresh_interval: Text = "1d"


class Target(Section, frozen=True):
    """The server that clients log in at."""

    discovery_url: Url
    token_endpoint_auth_method: Text | None = None


class Exchange(Section, frozen=True):
    """The server that turns what they got there into what engines believe."""

    discovery_url: Url


class MappedRole(Section, frozen=True):
    value: Text
    role: Text


class RoleMapping(Section, frozen=True):
    map: Annotated[list[MappedRole], msgspec.Meta(min_length=1)]
    claim: Text = "role"


class Provider(Section, frozen=True):
    name: ProviderName
    username_mapping: Text
    discovery_url: Url | None = None
    target: Target | None = None
    exchange: Exchange | None = None
    title: Text | None = None
    audience: Text | None = None
    jit_provisioning: Provisioning = Provisioning(enabled=False)
    role_mapping: RoleMapping | None = None
    jwks: KeySet = KeySet()
    discovery: Discovery = Discovery()

    @property
    def trusted_discovery_url(self) -> str:
        """Where to learn about the issuer of tokens: the second of two servers, if there are two."""
        if self.exchange is not None:
            return self.exchange.discovery_url
        return self.target.discovery_url if self.target is not None else self.discovery_url or ""


class OpenIdConnect(Section, frozen=True):
    providers: Annotated[list[Provider], msgspec.Meta(min_length=1)]
    jwt: TokenChecks = TokenChecks()


class Auth(Section, frozen=True):
    enabled: bool
    admin: AdminUser
    local: LocalUsers
    password_login: Literal["admin_only", "any_user"] = "admin_only"
    preferred_authorization_server: Text | None = None
    oidc: OpenIdConnect | None = None

    @property
    def providers(self) -> list[Provider]:
        return [] if self.oidc is None else self.oidc.providers


def check_auth(auth: Auth) -> None:
    for problem in _problems(auth):
        raise ConfigError(f"instance.auth.{problem}")


def _problems(auth: Auth) -> Iterator[str]:
    ids = [key.id for key in auth.local.signing_keys]
    names = [provider.name for provider in auth.providers]
    if len(set(ids)) < len(ids):
        yield "local.signing_keys: an id is used twice"
    if len(set(names)) < len(names):
        yield "oidc.providers: a name is used twice"
    if auth.preferred_authorization_server not in {None, LOCAL_SERVER, *names}:
        yield f"preferred_authorization_server: neither {LOCAL_SERVER} nor a provider"
    for provider in auth.providers:
        if (provider.discovery_url is None) == (provider.target is None):
            yield f"oidc.providers: {provider.name} needs either discovery_url or target"
    yield from _duration_problems(auth)


def _duration_problems(auth: Auth) -> Iterator[str]:
    """Those that must be more than nothing, then those that only have to be durations."""
    times, checks = auth.local.jwt, [] if auth.oidc is None else [auth.oidc.jwt]
    positive = [
        times.token_expiry,
        *(each.max_token_age for each in (times, *checks)),
        *(provider.discovery.refresh_interval for provider in auth.providers),
    ]
    for text in positive:
        if parse_duration(text) <= timedelta():
            yield f"a duration must be more than {text}"
    for text in (
        *(each.clock_skew_tolerance for each in (times, *checks)),
        *(provider.jwks.cache_ttl for provider in auth.providers),
    ):
        parse_duration(text)
