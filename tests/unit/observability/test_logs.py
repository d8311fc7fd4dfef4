"""One record, one line: its keys, its levels, its values, and when it is left out."""

import io
import json
import logging
from collections.abc import Iterator

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.observability import logs
from firebolt_operator.observability.logs import DEVELOPMENT, LogSettings, configure_logging, log_context
from firebolt_operator.refs import Ref, Resource

SECRET = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"namespace": "ns", "name": "db", "annotations": {"copy": "hunter2"}},
    "data": {"password": "aHVudGVyMg=="},
}


@pytest.fixture(autouse=True)
def root_logger_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(capture=False)


def written(settings: LogSettings = LogSettings()) -> tuple[logging.Logger, io.StringIO]:  # noqa: B008 - frozen
    stream = io.StringIO()
    configure_logging(settings, stream)
    return logging.getLogger("firebolt_operator.engine.reconcile"), stream


def records(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_given_a_record_then_its_keys_come_in_order_and_extra_becomes_values() -> None:
    log, stream = written()
    log.info("phase changed", extra={"from": "creating", "to": "switching", "pods": 3})
    (record,) = records(stream)
    assert list(record) == ["level", "ts", "logger", "msg", "from", "to", "pods"]
    assert str(record.pop("ts")).endswith("Z")
    assert record == {
        "level": "info",
        "logger": "engine.reconcile",
        "msg": "phase changed",
        "from": "creating",
        "to": "switching",
        "pods": 3,
    }


def test_given_the_root_logger_then_there_is_no_logger_key() -> None:
    _, stream = written()
    logging.getLogger().warning("careful: %d", 7)
    (record,) = records(stream)
    assert (record["level"], record["msg"], "logger" in record) == ("warn", "careful: 7", False)


def test_given_a_context_then_every_record_inside_carries_it_also_from_elsewhere() -> None:
    log, stream = written()
    with log_context({"controller": "fireboltengine", "name": "e1", "FireboltEngine": {"name": "e1"}}):
        log.info("inside")
        with log_context({"reconcileID": "42"}):
            logging.getLogger("elsewhere").info("deeper", extra={"name2": "x"})
    log.info("outside")
    inside, deeper, outside = records(stream)
    assert (inside["controller"], inside["name"]) == ("fireboltengine", "e1")
    assert (deeper["name"], deeper["reconcileID"], deeper["name2"]) == ("e1", "42", "x")
    assert "controller" not in outside


def test_given_an_exception_then_its_text_and_trace_are_values_of_the_same_line() -> None:
    log, stream = written()

    def fail() -> None:
        raise ExceptionGroup("pass", [ValueError("first\nline"), KeyError()])

    try:
        fail()
    except ExceptionGroup:
        log.exception("reconcile failed")
    (record,) = records(stream)
    assert (record["level"], record["error"]) == ("error", "first\nline; KeyError")
    assert "test_given_an_exception" in str(record["stacktrace"])


def test_given_an_error_without_exception_then_the_trace_ends_where_it_was_written() -> None:
    log, stream = written()
    log.error("cannot go on")
    log.warning("careful")
    error, warning = records(stream)
    assert str(error["stacktrace"]).splitlines()[-1].strip() == 'log.error("cannot go on")'
    assert "stacktrace" not in warning


@pytest.mark.parametrize("is_development", [True, False])
def test_given_a_secret_then_only_its_name_is_logged(*, is_development: bool) -> None:
    log, stream = written(LogSettings(is_development=is_development))
    log.info("seen", extra={"object": SECRET, "all": [SECRET], "body": b"hunter2"})
    assert "hunter2" not in stream.getvalue()
    assert "aHVudGVyMg" not in stream.getvalue()
    (record,) = records(stream)
    assert record["object"] == {"apiVersion": "v1", "kind": "Secret", "namespace": "ns", "name": "db"}


def test_given_a_kubernetes_object_then_it_is_named_in_production_and_shown_in_development() -> None:
    service = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"type": "ClusterIP"}}
    ref = Ref(Resource("apps", "v1", "statefulsets", "StatefulSet"), "ns", "e1-g1")
    log, stream = written()
    log.info("seen", extra={"object": service, "ref": ref})
    (record,) = records(stream)
    assert record["object"] == {"apiVersion": "v1", "kind": "Service", "name": "s"}
    assert record["ref"] == {"apiVersion": "apps/v1", "kind": "StatefulSet", "namespace": "ns", "name": "e1-g1"}
    log, stream = written(LogSettings(is_development=True))
    log.info("seen", extra={"object": service})
    assert records(stream)[0]["object"] == service


def test_given_the_console_then_fields_are_separated_by_tabs() -> None:
    log, stream = written(DEVELOPMENT)
    log.debug("looking", extra={"pods": 2})
    time, *rest = stream.getvalue().rstrip("\n").split("\t")
    assert time.endswith("Z")
    assert rest == ["DEBUG", "engine.reconcile", "looking", '{"pods":2}']


def test_given_a_storm_of_one_message_then_it_is_sampled_and_others_are_not() -> None:
    log, stream = written()
    handler = logging.getLogger().handlers[0]

    def emit(message: str, level: int, second: float) -> None:
        record = log.makeRecord(log.name, level, "", 0, message, (), None)
        record.created = second
        handler.handle(record)

    for _ in range(450):
        emit("storm", logging.INFO, 1000.5)
    emit("storm", logging.WARNING, 1000.6)
    emit("calm", logging.INFO, 1000.7)
    emit("storm", logging.INFO, 1001.0)
    counts = [record["msg"] for record in records(stream)]
    assert (counts.count("storm"), counts.count("calm")) == (100 + 3 + 1 + 1, 1)


def test_given_a_crowd_of_objects_with_the_same_trouble_then_each_is_named() -> None:
    log, stream = written()
    names = [f"ns/it-{number}" for number in range(300)]
    for name in names:
        log.error("object set aside", extra={"key": name})
    assert [record["key"] for record in records(stream)] == names


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(LogSettings(is_development=True), id="development"),
        pytest.param(LogSettings(level=logs.parse_level("2")), id="verbosity-2"),
    ],
)
def test_given_development_or_high_verbosity_then_nothing_is_left_out(settings: LogSettings) -> None:
    log, stream = written(settings)
    for _ in range(300):
        log.info("storm")
    assert len(stream.getvalue().splitlines()) == 300


def test_given_a_verbosity_then_records_up_to_it_are_shown_with_their_number() -> None:
    log, stream = written(LogSettings(level=logs.parse_level("3")))
    for verbosity in (1, 2, 3, 4):
        log.log(logs.level_of(verbosity), "detail")
    assert [record["level"] for record in records(stream)] == ["debug", "Level(-2)", "Level(-3)"]


@pytest.mark.parametrize(
    ("text", "level"),
    [("debug", 10), ("INFO", 20), ("error", 40), ("panic", 50), ("1", 10), ("2", 9), ("99", 1)],
)
def test_level(text: str, level: int) -> None:
    assert logs.parse_level(text) == level


@pytest.mark.parametrize("text", ["0", "-1", "warn", "", "loud", "1.5"])
def test_given_another_word_then_it_is_no_level(text: str) -> None:
    with pytest.raises(ConfigurationError):
        logs.parse_level(text)


def test_given_flags_then_encoder_and_stacktrace_level_are_checked() -> None:
    assert (logs.parse_encoder("JSON"), logs.parse_encoder("console")) == ("json", "console")
    assert [logs.parse_stacktrace_level(text) for text in ("info", "error", "panic")] == [20, 40, 50]
    with pytest.raises(ConfigurationError):
        logs.parse_encoder("xml")
    with pytest.raises(ConfigurationError):
        logs.parse_stacktrace_level("debug")
