"""Would a missing right be noticed? Only if the log is read right."""

import json

import pytest

from tests.e2e.refusals import OPERATOR, missing_rights

pytestmark = pytest.mark.quick


def an_event(verb: str, resource: str, decision: str, *, user: str = OPERATOR, group: str = "") -> str:
    return json.dumps(
        {
            "user": {"username": user},
            "verb": verb,
            "requestURI": f"/{resource}",
            "objectRef": {"resource": resource, "apiGroup": group},
            "annotations": {"authorization.k8s.io/decision": decision},
        }
    )


REFUSED = an_event("list", "secrets", "forbid")


@pytest.mark.parametrize(
    ("log", "told"),
    [
        pytest.param([REFUSED, REFUSED], ["list secrets"], id="refused-every-time"),
        pytest.param([an_event("list", "secrets", "allow"), '{"half'], [], id="allowed"),
        pytest.param([an_event("list", "secrets", "forbid", user="system:node:a")], [], id="somebody-else"),
        pytest.param([an_event("list", "secrets", "allow"), REFUSED], [], id="uninstalled-or-just-started"),
        pytest.param([an_event("get", "secrets", "allow"), REFUSED], ["list secrets"], id="another-verb"),
        pytest.param([an_event("list", "secrets", "allow", group="x"), REFUSED], ["list secrets"], id="another-group"),
    ],
)
def test_what_counts(log: list[str], told: list[str]) -> None:
    assert missing_rights(log) == told
