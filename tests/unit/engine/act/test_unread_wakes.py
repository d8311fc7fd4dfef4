import logging

import pytest

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.engine.act.unread_wakes import UnreadWakes


def asking(text: str, name: str = "eng") -> FireboltEngine:
    annotations = {names.ANNOTATION_WAKE_REQUESTED: text} if text else {}
    return FireboltEngine(metadata=ObjectMeta(name=name, namespace="ns", uid=f"uid-{name}", annotations=annotations))


def told(caplog: pytest.LogCaptureFixture) -> list[tuple[str, str, str]]:
    return [(record.__dict__["engine"], record.getMessage(), record.__dict__["problem"]) for record in caplog.records]


def test_what_cannot_be_read_is_told_once_by_the_name_of_its_engine(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    wakes = UnreadWakes()
    for _ in range(3):
        wakes.tell(asking("soon"))
        wakes.tell(asking("soon", "other"))
    problem = "firebolt.io/wake-requested: 'soon' is no RFC 3339 time with a zone"
    assert told(caplog) == [(name, "wake request ignored", problem) for name in ("eng", "other")]
    wakes.tell(asking("later"))
    assert [name for name, _, _ in told(caplog)] == ["eng", "other", "eng"]


@pytest.mark.parametrize("text", ["", "2026-01-01T12:00:00Z"])
def test_what_can_be_read_is_not_told(caplog: pytest.LogCaptureFixture, text: str) -> None:
    caplog.set_level(logging.DEBUG)
    UnreadWakes().tell(asking(text))
    assert told(caplog) == []
