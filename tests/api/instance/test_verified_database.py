"""An external database whose identity is verified: what is missed, and what restarts the metadata service."""

import base64

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import DEPLOYMENTS, SECRETS
from firebolt_operator.refs import Manifest
from tests.api.instance.person import Person
from tests.api.instance.running import Operator

HASH = "firebolt.io/config-hash"
AUTHORITY = {"caSecretRef": {"name": "db-ca", "key": "root.pem"}}
VERIFIED: Manifest = {
    "host": "db.example",
    "database": "meta",
    "credentialsSecretRef": {"name": "db-login"},
    "tls": AUTHORITY,
}


def message(instance: FireboltInstance) -> str:
    found = find_condition(instance.status.conditions, "MetadataReady")
    return found.message if found else ""


async def deployment(person: Person) -> tuple[int, str]:
    """How often its pods were changed, and what tells them apart."""
    found = await person.read(DEPLOYMENTS, "inst-metadata")
    return found["metadata"]["generation"], found["spec"]["template"]["metadata"]["annotations"][HASH]


async def test_a_certificate_that_is_missing_is_told_and_noticed_when_it_comes(
    operator: Operator, person: Person
) -> None:
    await person.make_secret("db-login", {"username": "u", "password": "p"})
    await person.make_instance(metadata={"postgres": VERIFIED})
    place = f"external postgres CA Secret {person.namespace}/db-ca"
    await operator.until(lambda found: message(found) == f"{place} not found")
    assert await person.names(DEPLOYMENTS) == set()
    await person.make_secret("db-ca", {"ca.crt": "another key"})
    await operator.until(lambda found: message(found) == f'{place}: missing or empty for key "root.pem"')
    await person.patch(SECRETS, "db-ca", {"stringData": {"root.pem": "PEM"}})
    await operator.until_ready()
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}


async def test_changed_content_restarts_the_metadata_service_once_and_nothing_else_does(
    operator: Operator, person: Person
) -> None:
    await person.make_secret("db-login", {"username": "u", "password": "p"})
    await person.make_secret("db-ca", {"root.pem": "PEM"})
    await person.make_instance(metadata={"postgres": VERIFIED})
    await operator.until_ready()
    await operator.settled()
    generation, annotated = await deployment(person)
    for name in ("db-login", "db-ca"):
        await person.patch(
            SECRETS, name, {"metadata": {"annotations": {"note": "x"}}, "stringData": {"unrelated": "y"}}
        )
    await operator.next_pass()
    assert await deployment(person) == (generation, annotated)
    for name, key in (("db-ca", "root.pem"), ("db-login", "password")):
        await person.patch(SECRETS, name, {"stringData": {key: "new"}})

        def is_new(found: Manifest | None, before: str = annotated) -> bool:
            return found is not None and found["spec"]["template"]["metadata"]["annotations"][HASH] != before

        await person.until(DEPLOYMENTS, "inst-metadata", is_new)
        await operator.until_ready()
        await operator.next_pass()
        generation, annotated = generation + 1, (await deployment(person))[1]
        assert await deployment(person) == (generation, annotated)
    assert base64.b64encode(b"new").decode() not in annotated
