"""What anybody in the pod network may send: raw bytes to the wake agent, and to whoever asks who may read metrics.

The bytes go through the real HTTP parser into the real handlers; only the socket under them is missing.
"""

import asyncio
import logging
import random
from collections.abc import Callable
from typing import Any, Final

from aiohttp import web

from firebolt_operator.kube.reviews import AccessQuestion, AccessVerdict, TokenVerdict
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.metrics_server import metrics_app as guarded_metrics_app
from firebolt_operator.runtime.scrape_access import ScrapeAccess
from firebolt_operator.wake.decide.answers import READY, REJECTED, Answer, is_engine_name
from firebolt_operator.wake.server import hold_app, with_health
from tests.fuzz.mutation import mutated, octets
from tests.fuzz.target import Target, bytes_shape
from tests.fuzz.targets.bodies import RUNNER

TURNS: Final = 12  # of the loop: enough for any handler here, since nothing of it waits
OURS: Final = ("200", "400", "401", "403", "404", "405", "413", "414", "431")


class Wire(asyncio.Transport):
    """A connection whose other end is a list of bytes."""

    def __init__(self) -> None:
        super().__init__()
        self.written = bytearray()
        self._is_closing = False

    def write(self, data: Any) -> None:
        self.written += data

    def writelines(self, list_of_data: Any) -> None:
        self.written += b"".join(list_of_data)

    def is_closing(self) -> bool:
        return self._is_closing

    def close(self) -> None:
        self._is_closing = True

    abort = close

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return ("127.0.0.1", 1) if name == "peername" else default

    def pause_reading(self) -> None:
        """Nothing more comes anyway."""

    def resume_reading(self) -> None:
        """As above."""


class Shouts(logging.Handler):
    """An error in the log of the server is a request that its handler did not survive."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.errors = list[BaseException]()

    def emit(self, record: logging.LogRecord) -> None:
        found = record.exc_info[1] if record.exc_info else None
        if found is not None:
            self.errors.append(found)


class Nobody:
    """Counts nothing, and lets the token `good` read."""

    def answered(self, decision: str, /) -> None: ...
    def caller_left(self) -> None: ...

    async def token(self, token: str) -> TokenVerdict:
        token.encode()  # as it is sent on to the API server
        return TokenVerdict(is_authenticated=token == "good")

    async def access(self, question: AccessQuestion) -> AccessVerdict:
        return AccessVerdict(is_allowed=question.non_resource_attributes is not None)


async def _ask(engine: str) -> Answer:
    return READY if is_engine_name(engine) else REJECTED


async def _render() -> bytes:
    return b"up 1\n"


def _exchanged(make_app: Callable[[], web.Application]) -> Callable[[bytes], str]:
    """The status of the first answer; empty when there is none, because the request is not whole."""
    runner: web.AppRunner | None = None

    async def exchange(sent: bytes) -> str:
        nonlocal runner
        if runner is None:
            runner = web.AppRunner(make_app(), access_log=None, handler_cancellation=True)
            await runner.setup()
        assert runner.server is not None
        wire, connection = Wire(), runner.server()
        connection.connection_made(wire)
        connection.data_received(sent)
        for _ in range(TURNS):
            await asyncio.sleep(0)
        connection.connection_lost(None)
        await asyncio.sleep(0)
        return bytes(wire.written).partition(b"\r\n")[0].decode("latin-1")

    def read(sent: bytes) -> str:
        shouts = Shouts()
        server_log = logging.getLogger("aiohttp.server")
        server_log.addHandler(shouts)
        try:
            line = RUNNER.run(exchange(sent))
        finally:
            server_log.removeHandler(shouts)
        ours = [err for err in shouts.errors if not type(err).__module__.startswith("aiohttp.http_")]
        assert not ours, repr(ours[0])
        assert not line or line.split(" ")[1] in OURS, line
        return line

    return read


def _guarded() -> web.Application:
    return guarded_metrics_app(_render, ScrapeAccess(Nobody(), SystemClock(), random.Random(1)))


def _request(paths: tuple[str, ...]) -> Callable[[random.Random], bytes]:
    def made(rng: random.Random) -> bytes:
        path = mutated(rng, rng.choice(paths), paths, untouched=0.6)
        token = mutated(rng, rng.choice(TOKENS), ("Bearer ",), untouched=0.6)
        target = rng.choice((path, path, path, path, f"http://h{path}"))
        version = rng.choice(("HTTP/1.1", "HTTP/1.1", "HTTP/1.0"))
        lines = [
            f"{rng.choice(METHODS)} {target} {version}",
            f"Host: {rng.choice(('a', '', '[::1]:80', 'a b'))}",
            f"Authorization: {token}",
            *rng.choice(
                (
                    (),
                    (),
                    ("Transfer-Encoding: chunked",),
                    ("Content-Length: 5",),
                    ("Upgrade: h2c", "Connection: Upgrade"),
                )
            ),
        ]
        text = "\r\n".join(lines) + "\r\n\r\n" + rng.choice(("", "", "", "", "0\r\n\r\n", "hello", "zz\r\n"))
        return octets(rng, mutated(rng, text, lines, untouched=0.8))

    return made


METHODS: Final = ("GET", "GET", "GET", "GET", "GET", "GET", "HEAD", "POST", "OPTIONS", "GeT")
TOKENS: Final = ("Bearer good", "Bearer good", "bearer good", "Basic x", "Bearer ", "Bearer \u00e9")
HOLD_PATHS: Final = (
    "/hold?engine=eng",
    "/hold?engine=my%2Deng",
    "/hold",
    "/healthz",
    "/hold?engine=%ff",
    "/hold?engine=a&engine=b",
)
METRICS_PATHS: Final = ("/metrics", "/metrics", "/metrics", "/metrics/", "/metrics?x=%ff", "/healthz", "/metrics/../x")
SHAPES: Final = [
    bytes_shape(piece, begin, " HTTP/1.1\r\nHost: a\r\n\r\n")
    for piece in ("a", "%41", "&", "engine=a&", "/..", "\u00e9")
    for begin in ("GET /hold?", "GET /", "GET /hold?engine=a HTTP/1.1\r\nX-A: ")
]


def _is_good(line: object) -> bool:
    return " 200 " in str(line)


TARGETS: Final = (
    Target(
        name="requests to hold",
        make=_request(HOLD_PATHS),
        read=_exchanged(lambda: hold_app(_ask, Nobody())),
        is_accepted=_is_good,
        shapes=SHAPES,
    ),
    Target(
        name="requests for agent metrics",
        make=_request(METRICS_PATHS),
        read=_exchanged(lambda: with_health(metrics_app(_render, None))),
        is_accepted=_is_good,
        shapes=SHAPES,
    ),
    Target(
        name="requests for metrics",
        make=_request(METRICS_PATHS),
        read=_exchanged(_guarded),
        is_accepted=_is_good,
        findings=[b"GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \xff\r\n\r\n"],
        shapes=SHAPES,
    ),
)
