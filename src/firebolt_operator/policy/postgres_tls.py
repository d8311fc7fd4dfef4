"""Can the identity of an external PostgreSQL server be verified with what its owner names?"""

from collections.abc import Iterator
from typing import Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden, required
from firebolt_operator.policy.protected_secrets import is_protected, provisioned_secret_names

AUTHORITY: Final = Path("spec").child("metadata", "postgres", "tls", "caSecretRef")
UNSET: Final = "must be set when spec.metadata.postgres.tls is configured"


def check_postgres_tls(instance: FireboltInstance) -> list[FieldError]:
    return list(_errors(instance))


def _errors(instance: FireboltInstance) -> Iterator[FieldError]:
    postgres = instance.spec.metadata.postgres
    if postgres is None or postgres.tls is None:
        return
    authority = postgres.tls.ca_secret_ref
    if not authority.name:
        yield required(AUTHORITY.child("name"), UNSET)
    if not authority.key:
        yield required(AUTHORITY.child("key"), UNSET)
    if authority.optional:
        yield forbidden(AUTHORITY.child("optional"), "cannot be true because verified TLS requires the selected CA key")
    if is_protected(authority.name, provisioned_secret_names(instance)):
        yield forbidden(AUTHORITY.child("name"), "must not reference a Secret provisioned by the operator")
