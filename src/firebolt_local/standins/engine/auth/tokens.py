"""When is a token believed? When its key signed it, it is meant for this instance, and it is neither old nor early."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

import jwt

from firebolt_local.standins.engine.auth.config import TokenChecks
from firebolt_local.standins.engine.auth.signing_keys import PublicKey
from firebolt_local.standins.engine.durations import parse_duration

Claims = Mapping[str, Any]
_NEEDED: Final = ["iss", "aud", "iat", "exp"]
# The instants are compared below, with a clock and a tolerance of our own.
_OPTIONS: Final[dict[str, Any]] = {
    "require": _NEEDED,
    "verify_exp": False,
    "verify_iat": False,
    "verify_nbf": False,
}


class TokenError(Exception):
    """It is not believed; the words are for its owner."""


@dataclass(frozen=True, slots=True)
class Limits:
    """A token is accepted until it expires, and never for longer than `most_age`; clocks may differ by `skew`."""

    most_age: timedelta
    skew: timedelta

    @classmethod
    def of(cls, checks: TokenChecks) -> "Limits":
        return cls(parse_duration(checks.max_token_age), parse_duration(checks.clock_skew_tolerance))


@dataclass(frozen=True, slots=True)
class Unverified:
    """What a token says of itself before anybody has looked at its signature."""

    key_id: str
    algorithm: str
    issuer: str


def peek(token: str) -> Unverified:
    try:
        parts = jwt.decode_complete(token, options={"verify_signature": False})
    except jwt.InvalidTokenError as err:
        raise TokenError(f"not a token: {err}") from err
    header, claims = parts["header"], parts["payload"]
    return Unverified(str(header.get("kid", "")), str(header.get("alg", "")), str(claims.get("iss", "")))


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    issuer: str
    audience: str
    algorithms: Sequence[str]
    limits: Limits


def verified(token: str, key: PublicKey, expected: Expected, *, now: float) -> Claims:
    try:
        claims: Claims = jwt.decode(
            token,
            key,
            algorithms=expected.algorithms,
            audience=expected.audience,
            issuer=expected.issuer,
            options=_OPTIONS,  # type: ignore[arg-type]
        )
    except jwt.InvalidTokenError as err:
        raise TokenError(str(err)) from err
    _check_times(claims, expected.limits, now)
    return claims


def _check_times(claims: Claims, limits: Limits, now: float) -> None:
    issued_at, expires_at, skew = _instant(claims, "iat"), _instant(claims, "exp"), limits.skew.total_seconds()
    if now >= expires_at + skew:
        raise TokenError("the token has expired")
    if now >= issued_at + limits.most_age.total_seconds() + skew:
        raise TokenError("the token is too old")
    if max(issued_at, _instant(claims, "nbf", missing=issued_at)) > now + skew:
        raise TokenError("the token is not valid yet")


def _instant(claims: Claims, name: str, *, missing: float = 0.0) -> float:
    value = claims.get(name, missing)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TokenError(f"{name} is no instant")
    return float(value)
