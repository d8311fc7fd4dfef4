"""What does an engine learn about authentication? A section of its configuration, files with secrets, two annotations.

The engine refuses keys that it does not know and texts that are empty, so what is not set is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from firebolt_operator.api import names
from firebolt_operator.api.auth import AuthSpec, LocalAuthSpec, OIDCProvider, OIDCSpec, RoleMapping, SigningKeyStatus
from firebolt_operator.auth.held_keys import HeldKey, format_held_keys
from firebolt_operator.auth.render.auth_hash import auth_hash
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest

ADMIN_FOLDER: Final = "/secrets/auth/admin"
SIGNING_FOLDER: Final = "/secrets/auth/signing"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineAuth:
    """Everything that rendering depends on; `keys` in the order of rendering, the one that signs first."""

    spec: AuthSpec
    local: LocalAuthSpec
    keys: Sequence[SigningKeyStatus]
    admin_version: str  # resourceVersion of the Secret with the password


def auth_config(auth: EngineAuth) -> Manifest:
    """The section `instance.auth`; passwords and keys are named by their files."""
    spec, local = auth.spec, auth.local
    described = {
        "enabled": True,
        "password_login": local.password_login,
        "preferred_authorization_server": spec.preferred_authorization_server,
        "admin": _set(
            {"name": local.admin.name, "password_file": f"{ADMIN_FOLDER}/{local.admin.password.key}"},
        ),
        "local": _set(
            {
                "signing_algorithm": local.signing_algorithm,
                "signing_keys": [
                    {"id": key.id, "private_key_path": f"{SIGNING_FOLDER}/{key.id}/{names.KEY_PRIVATE_KEY}"}
                    for key in auth.keys
                ],
                "jwt": _set(
                    {
                        "token_expiry": local.token_expiry,
                        "max_token_age": local.max_token_age,
                        "clock_skew_tolerance": local.clock_skew_tolerance,
                    }
                ),
            }
        ),
        "oidc": _oidc(spec.oidc) if spec.oidc is not None else None,
    }
    return {"instance": {"auth": _set(described)}}


def auth_mounts(auth: EngineAuth) -> tuple[SecretMount, ...]:
    password = auth.local.admin.password
    admin = SecretMount(
        # Whatever else its owner keeps in that Secret is none of an engine's business.
        volume=names.VOLUME_ENGINE_ADMIN,
        secret=password.name,
        path=ADMIN_FOLDER,
        keys=(password.key,),
    )
    keys = (
        SecretMount(
            volume=f"{names.VOLUME_SIGNING_PREFIX}{key.id}",
            secret=key.secret_name,
            path=f"{SIGNING_FOLDER}/{key.id}",
        )
        for key in auth.keys
    )
    return (admin, *keys)


def auth_annotations(auth: EngineAuth) -> dict[str, str]:
    """What rolls an engine, and what a rotation reads of it."""
    held = (HeldKey(key.id, key.observed_public_key_fingerprint) for key in auth.keys)
    return {
        names.ANNOTATION_AUTH_HASH: auth_hash(auth.spec, auth.keys, auth.admin_version),
        names.ANNOTATION_SIGNING_KEYS: format_held_keys(held),
    }


def _oidc(oidc: OIDCSpec) -> Manifest:
    jwt = oidc.jwt
    limits = {"clock_skew_tolerance": jwt.clock_skew_tolerance, "max_token_age": jwt.max_token_age} if jwt else {}
    return _set({"jwt": _set(limits), "providers": [_provider(provider) for provider in oidc.providers]})


def _provider(provider: OIDCProvider) -> Manifest:
    just_in_time, jwks, discovery = provider.jit_provisioning, provider.jwks, provider.discovery
    given: Manifest = {}
    if just_in_time is not None:
        roles = {"default_roles": just_in_time.default_roles} if just_in_time.default_roles else {}
        given["jit_provisioning"] = {"enabled": just_in_time.enabled, **roles}
    if jwks is not None:
        given["jwks"] = _set({"cache_ttl": jwks.cache_ttl})
    if discovery is not None:
        given["discovery"] = _set({"refresh_interval": discovery.refresh_interval})
    described = {
        "name": provider.name,
        **_servers(provider),
        "username_mapping": provider.username_mapping,
        "title": provider.title,
        "audience": provider.audience,
        "role_mapping": _roles(provider.role_mapping) if provider.role_mapping else None,
    }
    return {**_set(described), **given}


def _servers(provider: OIDCProvider) -> Manifest:
    target, exchange = provider.target, provider.exchange
    first = {"discovery_url": target.discovery_url} if target else {}
    method = {"token_endpoint_auth_method": target.token_endpoint_auth_method} if target else {}
    return {
        "discovery_url": provider.discovery_url,
        "target": _set({**first, **method}),
        "exchange": {"discovery_url": exchange.discovery_url} if exchange else None,
    }


def _roles(mapping: RoleMapping) -> Manifest:
    """In the order in which they are written."""
    return _set({"claim": mapping.claim, "map": [{"value": each.value, "role": each.role} for each in mapping.map]})


def _set(section: dict[str, Any]) -> Manifest:
    """Without what is empty."""
    return {key: value for key, value in section.items() if value}
