"""What a pass decided about authentication: writes in their order, then the status."""

from dataclasses import dataclass

from firebolt_operator.api.auth import AuthStatus, SigningKeyStatus
from firebolt_operator.look_again import LookAgain
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Warn


@dataclass(frozen=True, slots=True)
class EnsureCertificate:
    """Of a key's own algorithm and size: those of the spec may have moved on, and a key cannot follow."""

    key: SigningKeyStatus
    is_new: bool = False  # not on record yet: a private key that is in its Secret already must not be taken over


@dataclass(frozen=True, slots=True)
class DeleteCertificate:
    name: str
    uid: str


@dataclass(frozen=True, slots=True)
class DeleteSecret:
    name: str
    uid: str


AuthWrite = EnsureCertificate | DeleteCertificate | DeleteSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthPlan:
    """`needs_live_fleet`: nothing is written; the engines are read from the API server, and it is decided anew."""

    status: AuthStatus | None
    verdict: Verdict  # of AuthReady
    look_again: LookAgain
    writes: tuple[AuthWrite, ...] = ()
    warnings: tuple[Warn, ...] = ()
    needs_live_fleet: bool = False
