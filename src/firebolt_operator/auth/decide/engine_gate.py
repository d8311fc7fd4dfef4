"""May an engine be made with these signing keys? What it says to people if not: a pod would only wait for the files."""

from collections.abc import Mapping, Sequence

from firebolt_operator.api import names
from firebolt_operator.api.auth import SigningKeyStatus
from firebolt_operator.auth.facts import EngineSecrets
from firebolt_operator.manifests.issued import NOTHING_ISSUED, Issued, IssuedSecret


def auth_problem(keys: Sequence[SigningKeyStatus], seen: EngineSecrets, namespace: str) -> str:
    return seen.admin_problem or signing_keys_problem(keys, seen.issued, namespace)


def signing_keys_problem(keys: Sequence[SigningKeyStatus], issued: Mapping[str, Issued], namespace: str) -> str:
    """Why not, for the first key that stands in the way; empty if all are there. Keys as engines are told of them."""
    found = (_problem(key, issued.get(key.secret_name, NOTHING_ISSUED).secret) for key in keys)
    named = (
        f"signing key secret {namespace}/{key.secret_name} {problem}"
        for key, problem in zip(keys, found, strict=True)
        if problem
    )
    return next(named, "")


def _problem(key: SigningKeyStatus, secret: IssuedSecret | None) -> str:
    if secret is None:
        return "not found"
    if not secret.has(names.KEY_PRIVATE_KEY):
        return f'is missing or empty for key "{names.KEY_PRIVATE_KEY}"'
    if not secret.public_key:
        return f'has no readable certificate in key "{names.KEY_CERTIFICATE}"'
    if secret.public_key != key.observed_public_key_fingerprint:
        # It was made anew a moment ago: engines with either key would refuse what those with the other one sign.
        return "holds another key than the one that the instance has recorded; waiting for it to look"
    return ""
