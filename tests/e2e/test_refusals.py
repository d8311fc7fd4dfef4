"""Would a missing right be noticed? Only if the log is read right."""

import json
from typing import Any

import pytest

from tests.e2e.refusals import OPERATOR, refusals

pytestmark = pytest.mark.quick


def an_event(verb: str, resource: str, name: str = "x", *, user: str = OPERATOR, decision: str = "allow") -> str:
    what: dict[str, Any] = {"resource": resource, "name": name}
    return json.dumps(
        {
            "user": {"username": user},
            "verb": verb,
            "requestURI": f"/{resource}/{name}",
            "objectRef": what,
            "stageTimestamp": "12:00",
            "annotations": {"authorization.k8s.io/decision": decision},
        }
    )


REFUSED = an_event("list", "secrets", decision="forbid")
TAKEN = an_event("delete", "clusterrolebindings", "firebolt-operator-manager", user="admin")
GIVEN = an_event("create", "clusterrolebindings", "firebolt-operator-manager", user="admin")


@pytest.mark.parametrize(
    ("log", "told"),
    [
        pytest.param([REFUSED], ["12:00 list /secrets/x"], id="refused"),
        pytest.param([an_event("list", "secrets"), '{"half'], [], id="allowed"),
        pytest.param([an_event("get", "pods", user="system:node:a", decision="forbid")], [], id="somebody-else"),
        pytest.param([TAKEN, REFUSED], [], id="uninstalled"),
        pytest.param([TAKEN, REFUSED, GIVEN], [], id="installed-again"),
        pytest.param([TAKEN, GIVEN, REFUSED], ["12:00 list /secrets/x"], id="refused-after-that"),
    ],
)
def test_what_counts(log: list[str], told: list[str]) -> None:
    assert refusals(log) == told
