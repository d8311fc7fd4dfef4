"""May engines be given this signing key? Who made it, and is it the one that was there before?

Names of keys can be guessed, and cert-manager may adopt a private key that it finds. Whoever may write Secrets could
choose the key that signs an instance's tokens: annotations prove nothing, creation times come from the API server.
So a key that was witnessed and is another one now counts as lost, whoever replaced it: nothing tells cert-manager's
from anybody else's.
"""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.auth import SigningKeyStatus
from firebolt_operator.api.names import EventReason
from firebolt_operator.api.serialise import format_time
from firebolt_operator.auth.decide.signing_keys import replaced
from firebolt_operator.manifests.issued import Issued, IssuedCertificate, IssuedSecret, wrong_secret
from firebolt_operator.refs import Warn

ACTION = "Reconcile"


@dataclass(frozen=True, slots=True)
class Usable:
    key: SigningKeyStatus  # as witnessed now


@dataclass(frozen=True, slots=True)
class NotYet:
    """Not issued."""


@dataclass(frozen=True, slots=True)
class Rejected:
    problem: str
    warnings: tuple[Warn, ...] = ()


@dataclass(frozen=True, slots=True)
class Lost:
    """Its Secret holds another key than the one that was witnessed."""

    key: SigningKeyStatus
    warnings: tuple[Warn, ...]


Material = Usable | NotYet | Rejected | Lost


def judge_material(key: SigningKeyStatus, issued: Issued) -> Material:
    secret, certificate = issued.secret, issued.certificate
    if secret is None or not secret.has(names.KEY_PRIVATE_KEY):
        return NotYet()
    if _is_another(key, secret):
        return _lost(key)
    if _is_witnessed(key, secret):
        # The key that engines use already: a renewal that fails, or cert-manager being away, changes nothing about it.
        return Usable(key)
    if certificate is None or not certificate.is_ready:
        return NotYet()
    problem = _provenance_problem(key, certificate, secret)
    return _rejected(key, problem) if problem else _witnessed(key, secret)


def _is_another(key: SigningKeyStatus, secret: IssuedSecret) -> bool:
    known, found = key.observed_public_key_fingerprint, secret.public_key
    return bool(known and found) and known != found


def _is_witnessed(key: SigningKeyStatus, secret: IssuedSecret) -> bool:
    known = key.observed_public_key_fingerprint
    return bool(known) and secret.public_key == known and not wrong_secret(secret, key.secret_name)


def _provenance_problem(key: SigningKeyStatus, certificate: IssuedCertificate, secret: IssuedSecret) -> str:
    wrong = wrong_secret(secret, key.secret_name)
    # Times are whole seconds, and an honest Secret is often as old as its Certificate.
    if wrong or secret.created_at >= certificate.created_at:
        return wrong
    return (
        "signing key secret predates the certificate that would issue it: "
        f'secret created {format_time(secret.created_at)}, certificate "{key.secret_name}" created '
        f"{format_time(certificate.created_at)}; delete the secret if nobody's tokens depend on it"
    )


def _rejected(key: SigningKeyStatus, problem: str) -> Rejected:
    text = f"signing key secret {key.secret_name}: {problem}"
    note = f"refusing {text}"
    return Rejected(text, (Warn(reason=EventReason.SIGNING_KEY_PROVENANCE_REJECTED, action=ACTION, note=note),))


def _witnessed(key: SigningKeyStatus, secret: IssuedSecret) -> Usable | NotYet:
    known, found = key.observed_public_key_fingerprint, secret.public_key
    if not found:
        # Engines do not start with a key whose certificate cannot be read, so a new one is not shown to them.
        return Usable(key) if known else NotYet()
    return Usable(replaced(key, observed_public_key_fingerprint=found))


def _lost(key: SigningKeyStatus) -> Lost:
    note = (
        f"Secret {key.secret_name} holds another key than the one that was issued as {key.id}: it is deleted and never "
        f"used, tokens that {key.id} signed are refused from now on, and engines roll onto another key"
    )
    return Lost(key, (Warn(reason=EventReason.SIGNING_KEY_MATERIAL_REGENERATED, action=ACTION, note=note),))
