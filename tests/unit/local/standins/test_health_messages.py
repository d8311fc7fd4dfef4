"""The health protocol's bytes are those that every gRPC implementation writes."""

import pytest

from firebolt_local.standins import health_messages
from firebolt_local.standins.health_messages import ServingStatus


def test_given_the_unnamed_service_then_the_message_is_empty() -> None:
    assert health_messages.check_request() == bytes(5)
    assert health_messages.requested_service(b"") == ""


def test_given_a_name_then_it_survives_the_way() -> None:
    message = health_messages.unframed(health_messages.check_request("metadata"))
    assert message == b"\x0a\x08metadata"
    assert health_messages.requested_service(message) == "metadata"


@pytest.mark.parametrize("status", list(ServingStatus))
def test_given_a_status_then_it_survives_the_way(status: ServingStatus) -> None:
    message = health_messages.unframed(health_messages.check_response(status))
    assert message is not None
    assert health_messages.answered_status(message) is status


def test_serving_on_the_wire() -> None:
    assert health_messages.check_response(ServingStatus.SERVING) == b"\x00\x00\x00\x00\x02\x08\x01"


@pytest.mark.parametrize(
    "data", [b"", bytes(4), b"\x00\x00\x00\x00\x02\x08"], ids=["nothing", "half-a-prefix", "short"]
)
def test_given_half_a_message_then_there_is_none_yet(data: bytes) -> None:
    assert health_messages.unframed(data) is None


@pytest.mark.parametrize("message", [b"\x10\x01", b"\x0a\x05abc", b"\x0a"], ids=["other-field", "short", "no-length"])
def test_given_another_message_then_it_is_refused(message: bytes) -> None:
    with pytest.raises(ValueError, match="not a health check request"):
        health_messages.requested_service(message)
