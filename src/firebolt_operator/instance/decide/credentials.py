"""Can the metadata service log in to its database with this Secret?"""

from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.instance.database_login import (
    DATABASE,
    KEY_DATABASE,
    KEY_PASSWORD,
    KEY_USERNAME,
    USER,
    authority_in_use,
)
from firebolt_operator.instance.facts import CredentialsSeen, SecretMissing, SecretUnreadable
from firebolt_operator.instance.views import SecretView

REFERENCE: Final = "spec.metadata.postgres.credentialsSecretRef.name"
INTERNAL_KEYS: Final = (KEY_USERNAME, KEY_PASSWORD, KEY_DATABASE)
EXTERNAL_KEYS: Final = (KEY_USERNAME, KEY_PASSWORD)


def internal_credentials_problem(secret: SecretView) -> str | None:
    """A Secret that was restored or made beforehand is as good as ours, if it has the right shape."""
    name = _name(secret)
    if secret.type != "Opaque":
        return f'Secret {name}: got type "{secret.type}", want "Opaque"'
    missing = _missing_key(secret, INTERNAL_KEYS)
    if missing is not None:
        return missing
    for key, got, want in ((KEY_USERNAME, secret.username, USER), (KEY_DATABASE, secret.database, DATABASE)):
        if got != want:
            return f'Secret {name}: key "{key}": got "{got}", want "{want}"'
    return None


def external_credentials_problem(instance: FireboltInstance, seen: CredentialsSeen) -> str | None:
    """Without this look, a missing Secret would only show as a pod that never starts."""
    postgres = instance.spec.metadata.postgres
    if postgres is None:
        raise RuntimeError("an internal database has no credentials of the user's own")
    name = postgres.credentials_secret_ref.name
    if not name:
        return f"{REFERENCE} is empty"
    match seen:
        case SecretMissing():
            return f"Secret {instance.metadata.namespace}/{name} not found"
        case SecretUnreadable(problem):
            return f"reading Secret {instance.metadata.namespace}/{name}: {problem}"
        case SecretView():
            return _missing_key(seen, EXTERNAL_KEYS)


def authority_problem(instance: FireboltInstance, seen: CredentialsSeen | None) -> str | None:
    """Of the certificate that the server's identity is verified with."""
    authority = authority_in_use(instance)
    if authority is None:
        return None
    name = f"external postgres CA Secret {instance.metadata.namespace}/{authority.name}"
    match seen:
        case SecretUnreadable(problem):
            return f"reading {name}: {problem}"
        case SecretView():
            return None if authority.key in seen.digests else f'{name}: missing or empty for key "{authority.key}"'
        case _:
            return f"{name} not found"


def _missing_key(secret: SecretView, keys: tuple[str, ...]) -> str | None:
    missing = next((key for key in keys if key not in secret.filled), None)
    return None if missing is None else f'Secret {_name(secret)}: key "{missing}" is missing or empty'


def _name(secret: SecretView) -> str:
    return f"{secret.metadata.namespace}/{secret.metadata.name}"
