"""What is a request called, and which line names what goes wrong with it?"""

import pytest

from firebolt_local.campaign.faults.fault import Harm, fault, is_possible, parse_fault
from firebolt_local.campaign.faults.requests import Naming, RequestKind, RequestName, request_kind
from firebolt_local.errors import LocalError

ENGINES = "/apis/compute.firebolt.io/v1alpha1/namespaces/shop/fireboltengines"


@pytest.mark.parametrize(
    ("method", "target", "expected"),
    [
        pytest.param("PATCH", "/apis/apps/v1/namespaces/shop/statefulsets/eng-g0", "patch statefulsets", id="patch"),
        pytest.param("PUT", f"{ENGINES}/eng/status?timeout=9ms", "update fireboltengines/status", id="status"),
        pytest.param("POST", "/api/v1/namespaces/shop/configmaps", "create configmaps", id="create"),
        pytest.param("DELETE", "/api/v1/namespaces/shop/services/eng", "delete services", id="delete"),
        pytest.param("DELETE", "/api/v1/namespaces/shop/services", "deletecollection services", id="delete-all"),
        pytest.param("GET", "/api/v1/namespaces/shop/pods/a", "get pods", id="get"),
        pytest.param("GET", "/api/v1/namespaces/shop/pods/a:9090/proxy/metrics", "get pods/proxy", id="scrape"),
        pytest.param("GET", "/api/v1/pods?limit=5", "list pods", id="list-everywhere"),
        pytest.param("GET", "/api/v1/namespaces/shop/pods?watch=true", "watch pods", id="watch"),
        pytest.param("GET", "/api/v1/namespaces/shop", "get namespaces", id="a-namespace"),
        pytest.param("GET", "/apis/apps/v1", "get /apis/apps/v1", id="discovery"),
        pytest.param("GET", "/readyz", "get /readyz", id="health"),
    ],
)
def test_a_request_is_called_by_its_verb_and_its_kind(method: str, target: str, expected: str) -> None:
    assert str(request_kind(method, target)) == expected


def test_requests_of_a_kind_are_counted() -> None:
    naming, patch, create = Naming(), RequestKind("patch", "services"), RequestKind("create", "services")
    assert [str(naming.next(kind)) for kind in (patch, create, patch)] == [
        "patch services 1",
        "create services 1",
        "patch services 2",
    ]


@pytest.mark.parametrize(
    "line", ["cut-after patch statefulsets 2", "late=30 watch pods 3", "429=1 update fireboltengines/status 1"]
)
def test_a_line_says_it_all(line: str) -> None:
    assert str(parse_fault(line)) == line


def test_a_fault_that_takes_time_has_a_usual_one() -> None:
    assert str(parse_fault("late watch pods 3")) == "late=5 watch pods 3"


@pytest.mark.parametrize(
    "line", ["", "burn patch statefulsets 2", "cut-after statefulsets", "late patch statefulsets 1", "409 watch pods 1"]
)
def test_what_cannot_happen_is_refused(line: str) -> None:
    with pytest.raises(LocalError):
        parse_fault(line)


@pytest.mark.parametrize(
    ("harm", "verb", "expected"),
    [
        (Harm.CONFLICT, "create", False),
        (Harm.CONFLICT, "patch", True),
        (Harm.GONE, "patch", False),
        (Harm.GONE, "list", True),
        (Harm.LATE, "list", False),
        (Harm.LATE, "watch", True),
        (Harm.ERROR, "watch", False),
        (Harm.ERROR, "create", True),
    ],
)
def test_an_api_server_could_answer_so(harm: Harm, verb: str, *, expected: bool) -> None:
    assert is_possible(harm, RequestKind(verb, "pods")) == expected


def test_a_fault_without_a_length_has_none() -> None:
    assert fault(Harm.CUT_AFTER, RequestName(RequestKind("patch", "pods"), 1)).seconds == 0
