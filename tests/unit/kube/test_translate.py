"""Which answer becomes which error?"""

import json

import pytest

from firebolt_operator import errors
from firebolt_operator.kube.translate import read_status, refusal, watch_error
from tests.unit.kube.wire import status


@pytest.mark.parametrize(
    ("code", "reason", "kind"),
    [
        pytest.param(400, "BadRequest", errors.InvalidError, id="an-admission-webhook-said-no"),
        pytest.param(401, "Unauthorized", errors.ForbiddenError, id="unknown-caller"),
        pytest.param(403, "Forbidden", errors.ForbiddenError, id="no-right"),
        pytest.param(404, "NotFound", errors.NotFoundError, id="no-such-object"),
        pytest.param(405, "MethodNotAllowed", errors.RejectedError, id="anything-else-is-a-plain-no"),
        pytest.param(409, "AlreadyExists", errors.AlreadyExistsError, id="exists"),
        pytest.param(409, "Conflict", errors.ConflictError, id="written-since"),
        pytest.param(410, "Expired", errors.ExpiredError, id="too-old"),
        pytest.param(413, "RequestEntityTooLarge", errors.InvalidError, id="too-large"),
        pytest.param(422, "Invalid", errors.InvalidError, id="breaks-the-schema"),
        pytest.param(429, "TooManyRequests", errors.TransientError, id="throttled"),
        pytest.param(500, "InternalError", errors.UnansweredError, id="broken-with-unknown-outcome"),
        pytest.param(504, "Timeout", errors.UnansweredError, id="gave-up-with-unknown-outcome"),
    ],
)
def test_refused_writes(code: int, reason: str, kind: type[errors.OperatorError]) -> None:
    body = json.dumps(status(code, reason, "the words of the server")).encode()
    error = refusal("applying ConfigMap shop/settings", code, body, is_write=True)
    assert type(error) is kind
    assert str(error) == f"applying ConfigMap shop/settings: the words of the server (HTTP {code})"


def test_given_a_read_when_the_server_is_broken_then_trying_again_is_enough() -> None:
    assert type(refusal("reading", 503, b"", is_write=False)) is errors.TransientError


def test_a_field_the_schema_lacks_is_our_fault_though_the_server_answers_500() -> None:
    words = "failed to create typed patch object (shop/x; /v1, Kind=ConfigMap): .colour: field not declared in schema"
    error = refusal("applying", 500, json.dumps(status(500, "", words)).encode(), is_write=True)
    assert type(error) is errors.InvalidError


def test_a_rejection_carries_code_and_reason() -> None:
    error = refusal("creating", 422, json.dumps(status(422, "Invalid", "no")).encode(), is_write=True)
    assert isinstance(error, errors.RejectedError)
    assert (error.status, error.reason) == (422, "Invalid")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        pytest.param(b"<html>" + b"x" * 600, "<html>" + "x" * 506, id="a-foreign-page-is-quoted-not-whole"),
        pytest.param(b"", "no explanation", id="nothing"),
        pytest.param(b"\xff\xfe", "\ufffd\ufffd", id="not-text"),
        pytest.param(b'{"kind":"Status"}', '{"kind":"Status"}', id="a-status-without-words"),
        pytest.param(b'["x"]', '["x"]', id="json-of-another-shape"),
        pytest.param(b'{"message":"' + b"x" * 9_999 + b'"}', "x" * 4_096, id="a-status-without-an-end"),
    ],
)
def test_an_answer_without_a_status_is_quoted(body: bytes, words: str) -> None:
    assert read_status(body).message == words


@pytest.mark.parametrize(("code", "kind"), [(410, errors.ExpiredError), (500, errors.TransientError)])
def test_errors_inside_a_watch(code: int, kind: type[errors.OperatorError]) -> None:
    error = watch_error("watching pods", json.dumps(status(code, "x", "too old resource version")).encode())
    assert type(error) is kind
    assert "watching pods: too old resource version" in str(error)
