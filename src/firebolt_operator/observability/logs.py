"""What does one log record look like, and which records are written at all?"""

import logging
import sys
import traceback
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from types import FrameType
from typing import Final, Literal, TextIO

import msgspec

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.observability.log_values import plain

Encoder = Literal["json", "console"]
PANIC: Final = logging.CRITICAL
SAMPLE_FIRST: Final = 100  # records a second with the same level and message, about the same object if they name one
SAMPLE_EVERY: Final = 100  # of those beyond

_PACKAGE: Final = "firebolt_operator."
_LEVELS: Final = {logging.INFO: "info", logging.WARNING: "warn", logging.ERROR: "error", PANIC: "panic"}
_OWN_ATTRIBUTES: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}
_context: ContextVar[Mapping[str, object]] = ContextVar("log fields", default={})  # noqa: B039 - never changed in place


@dataclass(frozen=True, slots=True, kw_only=True)
class LogSettings:
    encoder: Encoder = "json"
    level: int = logging.INFO
    stacktrace_level: int = logging.ERROR
    is_development: bool = False

    @property
    def is_sampled(self) -> bool:
        """Someone who asked for more detail than debug wants all of it."""
        return not self.is_development and self.level > level_of(2)


DEVELOPMENT: Final = LogSettings(
    encoder="console", level=logging.DEBUG, stacktrace_level=logging.WARNING, is_development=True
)


def level_of(verbosity: int) -> int:
    """1 is debug, and every further step shows more; the standard library has no room below 1."""
    return max(logging.DEBUG + 1 - verbosity, 1)


def parse_level(text: str) -> int:
    """`debug`, `info`, `error`, `panic`, or a verbosity above 0."""
    named = {"debug": logging.DEBUG, "info": logging.INFO, "error": logging.ERROR, "panic": PANIC}
    if text.lower() in named:
        return named[text.lower()]
    if text.isascii() and text.isdecimal() and int(text) > 0:
        return level_of(int(text))
    raise ConfigurationError(f"invalid log level {text!r}")


def parse_stacktrace_level(text: str) -> int:
    named = {"info": logging.INFO, "error": logging.ERROR, "panic": PANIC}
    if text.lower() not in named:
        raise ConfigurationError(f"invalid stacktrace level {text!r}")
    return named[text.lower()]


def parse_encoder(text: str) -> Encoder:
    match text.lower():
        case "json":
            return "json"
        case "console":
            return "console"
        case _:
            raise ConfigurationError(f"invalid log encoder {text!r}")


@contextmanager
def log_context(fields: Mapping[str, object]) -> Generator[None]:
    """Every record written inside, by whomever, carries these fields."""
    token = _context.set({**_context.get(), **fields})
    try:
        yield
    finally:
        _context.reset(token)


def configure_logging(settings: LogSettings, stream: TextIO = sys.stderr) -> logging.Handler:
    """Take over the root logger."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(RecordFormatter(settings))
    if settings.is_sampled:
        handler.addFilter(Sampler())
    root = logging.getLogger()
    for former in root.handlers[:]:
        root.removeHandler(former)
    root.addHandler(handler)
    root.setLevel(settings.level)
    logging.captureWarnings(capture=True)
    return handler


class Sampler(logging.Filter):
    """A storm of equal messages must not drown the rest: the first hundred a second, then every hundredth."""

    def __init__(self) -> None:
        super().__init__()
        self._second = 0
        self._counts: dict[tuple[int, str, str], int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if int(record.created) != self._second:
            self._second = int(record.created)
            self._counts.clear()
        # The objects that were set aside are named nowhere else: a crowd of them must not hide one.
        key = (record.levelno, str(record.msg), str(getattr(record, "key", "")))
        seen = self._counts.get(key, 0) + 1
        self._counts[key] = seen
        return seen <= SAMPLE_FIRST or (seen - SAMPLE_FIRST) % SAMPLE_EVERY == 0


class RecordFormatter(logging.Formatter):
    def __init__(self, settings: LogSettings) -> None:
        super().__init__()
        self._settings = settings

    def format(self, record: logging.LogRecord) -> str:
        values = self._values(record)
        stack = _stack_of(record) if record.levelno >= self._settings.stacktrace_level else ""
        if self._settings.encoder == "console":
            return _console_line(record, values, stack)
        head = {"level": level_name(record.levelno), "ts": _time_of(record)}
        if name := _logger_name(record):
            head["logger"] = name
        head["msg"] = record.getMessage()
        return _json(head | values | ({"stacktrace": stack} if stack else {}))

    def _values(self, record: logging.LogRecord) -> dict[str, object]:
        own = {key: value for key, value in vars(record).items() if key not in _OWN_ATTRIBUTES}
        values = {
            key: plain(value, is_full=self._settings.is_development) for key, value in {**_context.get(), **own}.items()
        }
        if record.exc_info and record.exc_info[1] is not None:
            values.setdefault("error", plain(record.exc_info[1]))
        return values


def level_name(level: int) -> str:
    if level < logging.DEBUG:
        return f"Level(-{logging.DEBUG + 1 - level})"
    return next((name for floor, name in reversed(_LEVELS.items()) if level >= floor), "debug")


def _console_line(record: logging.LogRecord, values: Mapping[str, object], stack: str) -> str:
    parts = [_time_of(record), level_name(record.levelno).upper(), _logger_name(record), record.getMessage()]
    if values:
        parts.append(_json(values))
    line = "\t".join(part for part in parts if part)
    return f"{line}\n{stack}" if stack else line


def _json(values: Mapping[str, object]) -> str:
    return msgspec.json.encode(values).decode()


def _time_of(record: logging.LogRecord) -> str:
    moment = datetime.fromtimestamp(record.created, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _logger_name(record: logging.LogRecord) -> str:
    return "" if record.name == "root" else record.name.removeprefix(_PACKAGE)


def _stack_of(record: logging.LogRecord) -> str:
    if record.exc_info:
        return "".join(traceback.format_exception(*record.exc_info)).rstrip()
    return "".join(traceback.format_stack(_caller())).rstrip()


def _caller() -> FrameType | None:
    frame: FrameType | None = sys._getframe()  # noqa: SLF001 - the only way to a stack without its own top
    while frame is not None and frame.f_code.co_filename in {__file__, logging.__file__}:
        frame = frame.f_back
    return frame
