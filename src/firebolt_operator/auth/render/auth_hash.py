"""When does a change of authentication roll an engine? When this hash changes; how often keys rotate is no part of it.

Engines of an installation that exists carry the same hash, so its text is fixed: members in this order, without what
is empty unless it is marked as kept, and some characters escaped as Go does.
"""

import json
from collections.abc import Sequence
from typing import Any, Final

from firebolt_operator.api.auth import (
    AdminSpec,
    AuthSpec,
    LocalAuthSpec,
    OIDCProvider,
    OIDCSpec,
    RoleMapping,
    SigningKeyStatus,
)
from firebolt_operator.api.durations import format_duration, parse_duration
from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.refs import Manifest

ESCAPED: Final = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def auth_hash(spec: AuthSpec, keys: Sequence[SigningKeyStatus], admin_version: str) -> str:
    """Of the password only the version of its Secret: what is secret is never hashed."""
    document = {
        "spec": _spec(spec),
        "signingKeys": [
            {"id": key.id, "secretName": key.secret_name, "publicKeyFP": key.observed_public_key_fingerprint}
            for key in keys
        ],
        "adminSecretVersion": admin_version,
    }
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return content_hash(text.translate(ESCAPED))


def _spec(spec: AuthSpec) -> Manifest:
    return _set(
        enabled=spec.enabled,
        preferredAuthorizationServer=spec.preferred_authorization_server,
        local=_local(spec.local) if spec.local else None,
        oidc=_oidc(spec.oidc) if spec.oidc else None,
    )


def _local(local: LocalAuthSpec) -> Manifest:
    keys = local.signing_keys
    return _set(
        passwordLogin=local.password_login,
        admin=_admin(local.admin),
        signingAlgorithm=local.signing_algorithm,
        tokenExpiry=local.token_expiry,
        maxTokenAge=local.max_token_age,
        clockSkewTolerance=local.clock_skew_tolerance,
        signingKeys={"certManager": _cert_manager(keys.cert_manager)} if keys else None,
    )


def _admin(admin: AdminSpec) -> Manifest:
    password = admin.password
    optional = {} if password.optional is None else {"optional": password.optional}
    return {**_set(name=admin.name), "password": {**_set(name=password.name), "key": password.key, **optional}}


def _cert_manager(asked: CertManagerSpec) -> Manifest:
    issuer = {"name": asked.issuer_ref.name, **_set(kind=asked.issuer_ref.kind)}
    return _set(
        issuerRef=issuer,
        algorithm=asked.algorithm,
        size=asked.size,
        duration=_normalised(asked.duration),
        renewBefore=_normalised(asked.renew_before),
    )


def _oidc(oidc: OIDCSpec) -> Manifest:
    jwt = oidc.jwt
    limits = _set(clockSkewTolerance=jwt.clock_skew_tolerance, maxTokenAge=jwt.max_token_age) if jwt else None
    return {
        **({} if limits is None else {"jwt": limits}),
        "providers": [_provider(provider) for provider in oidc.providers],
    }


def _provider(provider: OIDCProvider) -> Manifest:
    just_in_time, jwks, discovery = provider.jit_provisioning, provider.jwks, provider.discovery
    given: Manifest = {}
    if just_in_time is not None:
        given["jitProvisioning"] = _set(enabled=just_in_time.enabled, defaultRoles=just_in_time.default_roles)
    if jwks is not None:
        given["jwks"] = _set(cacheTTL=jwks.cache_ttl)
    if discovery is not None:
        given["discovery"] = _set(refreshInterval=discovery.refresh_interval)
    return {
        "name": provider.name,
        **_set(title=provider.title, discoveryURL=provider.discovery_url, **_servers(provider)),
        **_set(audience=provider.audience),
        "usernameMapping": provider.username_mapping,
        **given,
        **_set(roleMapping=_roles(provider.role_mapping) if provider.role_mapping else None),
    }


def _servers(provider: OIDCProvider) -> Manifest:
    target, exchange = provider.target, provider.exchange
    method = _set(tokenEndpointAuthMethod=target.token_endpoint_auth_method) if target else {}
    return {
        "target": {"discoveryURL": target.discovery_url, **method} if target else None,
        "exchange": {"discoveryURL": exchange.discovery_url} if exchange else None,
    }


def _roles(mapping: RoleMapping) -> Manifest:
    return _set(claim=mapping.claim, map=[{"value": each.value, "role": each.role} for each in mapping.map])


def _normalised(text: str | None) -> str:
    return "" if text is None else format_duration(parse_duration(text))


def _set(**members: Any) -> Manifest:
    return {key: value for key, value in members.items() if value}
