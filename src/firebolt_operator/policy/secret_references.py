"""May an instance have this Secret read on its behalf? What it names is mounted into pods of its owner's choosing.

Someone who may write an instance but not read Secrets must not be handed a neighbour's by the operator.
"""

from collections.abc import Iterator
from functools import partial

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden
from firebolt_operator.policy.protected_secrets import IsProtected, is_protected, provisioned_secret_names


def ours(instance: FireboltInstance) -> IsProtected:
    return partial(is_protected, protected=provisioned_secret_names(instance))


def check_reference(name: str, path: Path, is_ours: IsProtected) -> Iterator[FieldError]:
    if name and is_ours(name):
        detail = f'must not name "{name}", a Secret the operator manages itself; use a Secret of your own'
        yield forbidden(path, detail)


def check_database_login(instance: FireboltInstance) -> list[FieldError]:
    """Credentials of an internal database may be kept when it moves, but only by the instance whose they were."""
    postgres = instance.spec.metadata.postgres
    login = postgres.credentials_secret_ref.name if postgres else ""
    if login == names.metadata_credentials_name(instance.metadata.name):
        return []
    path = Path("spec").child("metadata", "postgres", "credentialsSecretRef", "name")
    return list(check_reference(login, path, ours(instance)))
