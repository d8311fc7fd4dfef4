"""How does the metadata service log in to its database? By a Secret, of the operator's or of the user's."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.postgres_tls import AuthoritySelector

USER: Final = "firebolt"
DATABASE: Final = "firebolt_metadata"
KEY_USERNAME: Final = "username"
KEY_PASSWORD: Final = "password"  # noqa: S105 - a key, not a password
KEY_DATABASE: Final = "database"


def credentials_in_use(instance: FireboltInstance) -> str:
    """The Secret that the metadata service logs in to its database with."""
    postgres = instance.spec.metadata.postgres
    if postgres is None:
        return names.metadata_credentials_name(instance.metadata.name)
    return postgres.credentials_secret_ref.name


def authority_in_use(instance: FireboltInstance) -> AuthoritySelector | None:
    """Where the certificate is that an external server is verified with; None: it is not verified."""
    postgres = instance.spec.metadata.postgres
    return None if postgres is None or postgres.tls is None else postgres.tls.ca_secret_ref
