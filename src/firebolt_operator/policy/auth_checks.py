"""What is wrong with the authentication settings of an instance?"""

import re
from collections.abc import Iterator
from typing import Final

from firebolt_operator.api.auth import AuthSpec, LocalAuthSpec, OIDCProvider, OIDCSpec
from firebolt_operator.policy.certificate_keys import check_key_size, key_size
from firebolt_operator.policy.durations import check_durations, check_engine_duration
from firebolt_operator.policy.field_errors import FieldError, Path, duplicate, forbidden, invalid, required
from firebolt_operator.policy.protected_secrets import IsProtected
from firebolt_operator.policy.rotation_checks import check_rotation
from firebolt_operator.policy.secret_references import check_reference

AUTH: Final = Path("spec").child("auth")
LOCAL: Final = AUTH.child("local")
OIDC: Final = AUTH.child("oidc")
LOCAL_SERVER: Final = "_local"
CURVES: Final = {"ES256": 256, "ES384": 384, "ES512": 521}
NAMES_ISSUER: Final = re.compile(r"\{\{\s*iss\s*\}\}")
LEFT_OVER: Final = "must not be set when spec.auth.enabled is false"


def check_auth(auth: AuthSpec | None, is_ours: IsProtected) -> list[FieldError]:
    if auth is None:
        return []
    if not auth.enabled:
        return _left_over(auth)
    if auth.local is None:
        return [required(LOCAL, "is required when spec.auth.enabled is true")]
    return [
        *_password_errors(auth.local, is_ours),
        *_local_errors(auth.local),
        *_preferred_server_errors(auth),
        *(_oidc_errors(auth.oidc, auth.local) if auth.oidc else ()),
        *check_durations(auth, AUTH),
    ]


def _left_over(auth: AuthSpec) -> list[FieldError]:
    """Whoever wrote these believes in a door that is not closed."""
    given = (("local", auth.local), ("oidc", auth.oidc))
    found = [forbidden(AUTH.child(name), LEFT_OVER) for name, value in given if value is not None]
    if auth.preferred_authorization_server:
        found.append(forbidden(AUTH.child("preferredAuthorizationServer"), LEFT_OVER))
    return found


def _password_errors(local: LocalAuthSpec, is_ours: IsProtected) -> Iterator[FieldError]:
    password, path = local.admin.password, LOCAL.child("admin", "password")
    if not password.name:
        yield required(path.child("name"), "name the Secret with the administrator's password; none is made")
    if not password.key:
        yield required(path.child("key"), "name the key of the administrator's password in its Secret")
    yield from check_reference(password.name, path.child("name"), is_ours)


def _local_errors(local: LocalAuthSpec) -> Iterator[FieldError]:
    if local.signing_keys is None:
        yield required(LOCAL.child("signingKeys"), "all engines of an instance check tokens with the same keys")
    else:
        yield from _signing_key_errors(local)
        yield from check_key_size(local.signing_keys.cert_manager, LOCAL.child("signingKeys", "certManager"))
        yield from check_rotation(local, LOCAL.child("signingKeys"))
    yield from check_engine_duration(local.token_expiry, LOCAL.child("tokenExpiry"), is_positive=True)
    yield from check_engine_duration(local.max_token_age, LOCAL.child("maxTokenAge"), is_positive=True)
    yield from check_engine_duration(local.clock_skew_tolerance, LOCAL.child("clockSkewTolerance"))


def _signing_key_errors(local: LocalAuthSpec) -> Iterator[FieldError]:
    """The family first: a curve is only compared with an algorithm of its own family."""
    if local.signing_keys is None:
        return
    asked, algorithm = local.signing_keys.cert_manager, local.signing_algorithm
    family = "RSA" if algorithm.startswith("RS") else "ECDSA"
    if asked.algorithm != family:
        detail = f'requires signingKeys.certManager.algorithm={family}, got "{asked.algorithm}"'
        yield invalid(LOCAL.child("signingAlgorithm"), algorithm, detail)
    elif algorithm in CURVES and key_size(asked) != CURVES[algorithm]:
        path = LOCAL.child("signingKeys", "certManager", "size")
        yield invalid(path, key_size(asked), f"{algorithm} requires a key of size {CURVES[algorithm]}")


def _preferred_server_errors(auth: AuthSpec) -> list[FieldError]:
    preferred = auth.preferred_authorization_server
    providers = [provider.name for provider in auth.oidc.providers] if auth.oidc else []
    if preferred in {"", LOCAL_SERVER, *providers}:
        return []
    detail = f'must be "{LOCAL_SERVER}" or the name of a provider in spec.auth.oidc.providers'
    return [invalid(AUTH.child("preferredAuthorizationServer"), preferred, detail)]


def _oidc_errors(oidc: OIDCSpec, local: LocalAuthSpec) -> Iterator[FieldError]:
    if oidc.jwt is not None:
        jwt = OIDC.child("jwt")
        yield from check_engine_duration(oidc.jwt.clock_skew_tolerance, jwt.child("clockSkewTolerance"))
        yield from check_engine_duration(oidc.jwt.max_token_age, jwt.child("maxTokenAge"), is_positive=True)
    seen: set[str] = set()
    for index, provider in enumerate(oidc.providers):
        path = OIDC.child("providers").at(index)
        if provider.name in seen:
            yield duplicate(path.child("name"), provider.name)
        seen.add(provider.name)
        yield from _server_errors(provider, path)
        yield from _mapping_errors(provider, path, local.admin.name, is_alone=len(oidc.providers) == 1)
        yield from _provider_duration_errors(provider, path)


def _server_errors(provider: OIDCProvider, path: Path) -> Iterator[FieldError]:
    if provider.discovery_url is not None and provider.target is not None:
        detail = "must not set both discoveryURL and target: the flat discoveryURL is sugar for target.discoveryURL"
        yield forbidden(path.child("target"), detail)
    elif provider.discovery_url is None and provider.target is None:
        detail = "a provider must name the server clients authenticate at, as either discoveryURL or target"
        yield required(path.child("target"), detail)


def _mapping_errors(provider: OIDCProvider, path: Path, admin: str, *, is_alone: bool) -> Iterator[FieldError]:
    mapping, field = provider.username_mapping, path.child("usernameMapping")
    if not is_alone and NAMES_ISSUER.search(mapping) is None:
        # A whole claim, not a part of a word: two providers may well have a user of the same name.
        yield invalid(field, mapping, 'must contain the "iss" claim, like {{ iss }}, when there are several providers')
    if "{{" not in mapping and mapping.strip() == (admin or "firebolt"):
        yield invalid(field, mapping, "must not resolve to the user name of the instance's administrator")


def _provider_duration_errors(provider: OIDCProvider, path: Path) -> Iterator[FieldError]:
    if provider.jwks is not None:
        yield from check_engine_duration(provider.jwks.cache_ttl, path.child("jwks", "cacheTTL"))
    if provider.discovery is not None:
        field = path.child("discovery", "refreshInterval")
        yield from check_engine_duration(provider.discovery.refresh_interval, field, is_positive=True)


def check_auth_update(old: AuthSpec | None, new: AuthSpec | None) -> list[FieldError]:
    """Engines know one algorithm and one curve at a time: two could not live side by side during a rotation."""
    before, after = _enabled_local(old), _enabled_local(new)
    if before is None or after is None:
        return []
    found: list[FieldError] = []
    if before.signing_algorithm != after.signing_algorithm:
        detail = "is immutable while authentication is enabled; recreate the instance to change it"
        found.append(invalid(LOCAL.child("signingAlgorithm"), after.signing_algorithm, detail))
    if before.signing_keys and after.signing_keys:
        size = after.signing_keys.cert_manager.size
        if size != before.signing_keys.cert_manager.size:
            detail = "is immutable while authentication is enabled; recreate the instance to change it"
            found.append(invalid(LOCAL.child("signingKeys", "certManager", "size"), size, detail))
    return found


def _enabled_local(auth: AuthSpec | None) -> LocalAuthSpec | None:
    return auth.local if auth is not None and auth.enabled else None
