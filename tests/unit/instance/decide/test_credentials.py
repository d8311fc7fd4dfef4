"""Only a Secret with the right shape is taken for the database's credentials."""

import base64
import json
from typing import Any

import pytest

from firebolt_operator.instance.decide.credentials import (
    authority_problem,
    external_credentials_problem,
    internal_credentials_problem,
)
from firebolt_operator.instance.facts import CredentialsSeen, SecretMissing, SecretUnreadable
from firebolt_operator.instance.views import SecretView, decode_secret
from tests.support.instances import EXTERNAL, a_secret, an_instance

NAME = "Secret ns/inst-metadata-postgres-creds"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        pytest.param({}, None, id="the-right-shape"),
        pytest.param(
            {"type": "kubernetes.io/basic-auth"},
            f'{NAME}: got type "kubernetes.io/basic-auth", want "Opaque"',
            id="another-type",
        ),
        pytest.param(
            {"filled": frozenset({"password", "database"})},
            f'{NAME}: key "username" is missing or empty',
            id="no-user",
        ),
        pytest.param(
            {"filled": frozenset({"username", "database"})},
            f'{NAME}: key "password" is missing or empty',
            id="no-password",
        ),
        pytest.param(
            {"filled": frozenset({"username", "password"})},
            f'{NAME}: key "database" is missing or empty',
            id="no-database",
        ),
        pytest.param({"username": "root"}, f'{NAME}: key "username": got "root", want "firebolt"', id="another-user"),
        pytest.param(
            {"database": "x"}, f'{NAME}: key "database": got "x", want "firebolt_metadata"', id="another-database"
        ),
    ],
)
def test_internal_credentials(changes: dict[str, Any], problem: str | None) -> None:
    assert internal_credentials_problem(a_secret(**changes)) == problem


@pytest.mark.parametrize(
    ("name", "seen", "problem"),
    [
        pytest.param("db-login", a_secret(), None, id="there"),
        pytest.param("db-login", a_secret(filled=frozenset({"username", "password"})), None, id="no-database-needed"),
        pytest.param("", a_secret(), "spec.metadata.postgres.credentialsSecretRef.name is empty", id="no-name"),
        pytest.param("db-login", SecretMissing(), "Secret ns/db-login not found", id="missing"),
        pytest.param(
            "db-login", SecretUnreadable("forbidden"), "reading Secret ns/db-login: forbidden", id="unreadable"
        ),
        pytest.param(
            "db-login",
            a_secret(filled=frozenset({"password"})),
            f'{NAME}: key "username" is missing or empty',
            id="no-user",
        ),
        pytest.param(
            "db-login",
            a_secret(filled=frozenset({"username"})),
            f'{NAME}: key "password" is missing or empty',
            id="no-password",
        ),
    ],
)
def test_external_credentials(name: str, seen: CredentialsSeen, problem: str | None) -> None:
    instance = an_instance(metadata={"postgres": {**EXTERNAL, "credentialsSecretRef": {"name": name}}})
    assert external_credentials_problem(instance, seen) == problem


@pytest.mark.parametrize(
    ("seen", "problem"),
    [
        pytest.param(a_secret(digests={"root.pem": b"x"}), None, id="there"),
        pytest.param(SecretMissing(), "external postgres CA Secret ns/db-ca not found", id="missing"),
        pytest.param(
            SecretUnreadable("forbidden"), "reading external postgres CA Secret ns/db-ca: forbidden", id="unreadable"
        ),
        pytest.param(
            a_secret(digests={"ca.crt": b"x"}),
            'external postgres CA Secret ns/db-ca: missing or empty for key "root.pem"',
            id="another-key",
        ),
    ],
)
def test_the_authority_of_an_external_database(seen: CredentialsSeen, problem: str | None) -> None:
    tls = {"caSecretRef": {"name": "db-ca", "key": "root.pem"}}
    assert authority_problem(an_instance(metadata={"postgres": {**EXTERNAL, "tls": tls}}), seen) == problem
    assert authority_problem(an_instance(metadata={"postgres": EXTERNAL}), None) is None


def secret_body(data: dict[str, str]) -> bytes:
    encoded = {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}
    metadata = {"name": "creds", "namespace": "ns", "resourceVersion": "7"}
    return json.dumps({"metadata": metadata, "type": "Opaque", "data": encoded}).encode()


def test_a_password_is_never_kept() -> None:
    view = decode_secret(secret_body({"username": "firebolt", "password": "hunter2", "database": "", "more": "x"}))
    assert (view.filled, view.username, view.database) == (frozenset({"username", "password"}), "firebolt", "")
    assert "hunter2" not in repr(view)
    assert base64.b64encode(b"hunter2").decode() not in repr(view)


def test_content_is_told_apart_by_key_and_of_few_keys_only() -> None:
    one = decode_secret(secret_body({"username": "a", "password": "b", "ca.crt": "c", "empty": ""}))
    two = decode_secret(secret_body({"username": "a", "password": "B", "ca.crt": "c"}))
    assert one.digests.keys() == two.digests.keys() == {"username", "password", "ca.crt"}
    assert {key for key in one.digests if one.digests[key] != two.digests[key]} == {"password"}
    many = decode_secret(secret_body({"username": "a", **dict.fromkeys(map(str, range(100)), "x")}))
    assert many.digests.keys() == {"username"}


@pytest.mark.parametrize("document", [{}, {"data": None}, {"data": {"username": "***"}}])
def test_an_odd_secret_is_read_as_it_is(document: dict[str, Any]) -> None:
    view = decode_secret(json.dumps({"metadata": {"name": "creds"}, **document}).encode())
    assert isinstance(view, SecretView)
    assert view.username == ""
