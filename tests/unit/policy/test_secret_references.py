"""Which Secrets may an instance have mounted on its behalf, and by which of its references?"""

import pytest

from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import check_instance, rejected_component
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import AUTH, an_instance, paths

NEIGHBOURS = (
    "victim-metadata-postgres-creds",
    "victim-auth-signing",
    "victim-auth-signing-signing-2",
    "victim-engine-g1-engine-tls",
    "victim-gateway-tls",
)
ANCHORED: Manifest = {"engineTLS": {"secretName": "inst-engine-tls", "createdAt": "2026-01-01T00:00:00Z"}}
ENGINE_TLS: Manifest = {"engine": {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}}


def login(name: str) -> Manifest:
    return {"metadata": {"postgres": {"host": "pg", "database": "db", "credentialsSecretRef": {"name": name}}}}


def password(name: str) -> Manifest:
    admin = {"password": {"name": name, "key": "password"}}
    return {"auth": {**AUTH, "local": {**AUTH["local"], "admin": admin}}}


def served(name: str) -> Manifest:
    return {"tls": {"gateway": {"enabled": True, "secretRef": {"name": name}}}}


REFERENCES = {
    "spec.metadata.postgres.credentialsSecretRef.name": login,
    "spec.auth.local.admin.password.name": password,
    "spec.tls.gateway.secretRef": served,
}


@pytest.mark.parametrize("name", NEIGHBOURS)
@pytest.mark.parametrize("field", REFERENCES)
def test_a_secret_that_the_operator_keeps_for_a_neighbour_is_refused(field: str, name: str) -> None:
    errors = check_instance(an_instance(**REFERENCES[field](name)))
    assert [str(error) for error in errors] == [
        f'{field}: Forbidden: must not name "{name}", a Secret the operator manages itself; use a Secret of your own'
    ]


@pytest.mark.parametrize("name", ["mine", "my-postgres-creds", "metadata-postgres-creds", "gateway-tls", "my-tls"])
@pytest.mark.parametrize("field", REFERENCES)
def test_a_secret_of_ones_own_is_taken(field: str, name: str) -> None:
    assert aggregate(check_instance(an_instance(**REFERENCES[field](name)))) == ""


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_the_controller_renders_no_database_login_of_a_neighbour(name: str) -> None:
    rejected = rejected_component(an_instance(**login(name)))
    assert rejected is not None
    assert (rejected.condition, rejected.reason) == ("MetadataReady", "SpecInvalid")


def test_credentials_that_the_operator_kept_for_the_instance_itself_are_its_own_to_log_in_with() -> None:
    own = "inst-metadata-postgres-creds"
    assert check_instance(an_instance(**login(own))) == []
    assert rejected_component(an_instance(**login(own))) is None
    assert paths(check_instance(an_instance(**password(own)))) == ["spec.auth.local.admin.password.name"]


def test_what_the_operator_made_for_the_instance_under_a_name_without_a_shape_is_refused_too() -> None:
    spec = {"tls": ENGINE_TLS, **password("inst-engine-tls")}
    assert paths(check_instance(an_instance(status=ANCHORED, **spec))) == ["spec.auth.local.admin.password.name"]
