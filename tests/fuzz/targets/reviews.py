"""Admission reviews, as bytes to the server that API servers ask: from its HTTP parser to the verdict.

Whatever is sent is answered with a verdict and in little time, and controllers agree with every verdict: what admission
lets through nobody is told to mend, and what it refuses would not have been used as it is.
"""

import asyncio
import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, cast

from aiohttp import web

from firebolt_operator.admission.classes import guarded_admissions
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.lookups import Lookups
from firebolt_operator.admission.reading import UnreadableReviewError, read_review
from firebolt_operator.admission.server import admission_app, webhook_path
from firebolt_operator.admission.webhooks import VALIDATE, webhooks
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.api.serialise import parse_engine, parse_engine_class, parse_instance
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.kube.set_aside import Undecodable
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.clock import SystemClock
from tests.fuzz.mutation import mutated, octets
from tests.fuzz.target import Target, is_known
from tests.fuzz.targets import templates
from tests.fuzz.targets.bodies import RUNNER
from tests.fuzz.targets.in_the_house import OPERATOR, told_of_class, told_of_engine, told_of_instance
from tests.fuzz.targets.requests import Wire
from tests.support.deep import with_depth
from tests.support.growth import Shape, uncollected

MEBIBYTE: Final = 1 << 20
MOST_SECONDS: Final = 0.1
"""Of processor time, all threads together: what a busy machine adds is not the server's doing."""
HANG: Final = 60.0
SLOW_ONCE: Final = (0, 1, 5, 9)  # shapes of engines: volumes, containers, an image, unknown fields
VERDICTS: Final = frozenset({200, 400, 403, 413})
FLOOR: Final = "must be at least 1s"  # a shorter one that is stored counts as this
LEFT_OVER: Final = "must not be set when spec.auth.enabled is false"  # controllers let it lie
GATEWAYS: Final = "a gateway may"
GATEWAY: Final = "system:serviceaccount:apps:main-gateway"
USERS: Final = ("alice", "alice", "alice", "system:serviceaccount:apps:job", GATEWAY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    kind: str
    new: bytes
    old: bytes = b""
    engine_class: bytes = b"{}"
    user: str = "alice"

    @property
    def review(self) -> bytes:
        request = {
            "uid": "asked",
            "operation": "UPDATE" if self.old else "CREATE",
            "resource": {"resource": PLURALS[self.kind]},
            "namespace": "apps",
            "userInfo": {"username": self.user},
        }
        head = json.dumps({"request": request}).encode().removesuffix(b"}}")
        old = b', "oldObject": ' + self.old if self.old else b""
        return head + b', "object": ' + self.new + old + b"}}"


@dataclass
class Door:
    """The server, and an API server that knows one class and nothing else."""

    engine_class: bytes = b"{}"
    _runner: web.AppRunner | None = field(default=None, init=False)

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        return self.engine_class if ref.resource == FIREBOLT_ENGINE_CLASSES else None

    async def list(self, _scope: Scope, /) -> list[Manifest]:
        return []

    def began(self, _webhook: str, /) -> None: ...
    def ended(self, _webhook: str, _code: int, _seconds: float, /) -> None: ...

    async def ask(self, kind: str, review: bytes) -> Manifest:
        path = webhook_path(VALIDATE, kind.lower())
        lines = (
            f"POST {path} HTTP/1.1",
            "Host: a",
            "Content-Type: application/json",
            f"Content-Length: {len(review)}",
        )
        server = (await self._listening()).server
        assert server is not None
        wire, connection = Wire(), server()
        connection.connection_made(wire)
        connection.data_received("\r\n".join((*lines, "", "")).encode() + review)
        async with asyncio.timeout(HANG):
            while b"\r\n\r\n" not in wire.written:  # noqa: ASYNC110 - a wire tells nobody
                await asyncio.sleep(0)
            connection.connection_lost(None)
            await asyncio.sleep(0)
        answered, _, body = bytes(wire.written).partition(b"\r\n\r\n")
        assert answered.startswith(b"HTTP/1.1 200 "), answered
        return dict(json.loads(body)["response"])

    async def _listening(self) -> web.AppRunner:
        if self._runner is None:
            reader = cast("Any", self)
            asked = webhooks(
                EngineAdmission(Lookups(reader), templates.BOUNDS),
                guarded_admissions(reader, templates.BOUNDS, lambda _namespace, _labels: True),
                InstanceAdmission(Lookups(reader), OPERATOR, lambda _template: "id"),
            )
            self._runner = web.AppRunner(admission_app(asked, self, SystemClock()), access_log=None)
            await self._runner.setup()
        return self._runner


DOOR: Final = Door()
PLURALS: Final = {
    "FireboltEngine": "fireboltengines",
    "FireboltEngineClass": "fireboltengineclasses",
    "FireboltInstance": "fireboltinstances",
}


def _ask(asked: Asked) -> str | None:
    DOOR.engine_class = asked.engine_class
    response, seconds = _timed(asked)
    for _ in range(2):  # the processor may have had others' work in its caches
        if seconds < MOST_SECONDS:
            break
        seconds = min(seconds, _timed(asked)[1])
    assert seconds < MOST_SECONDS, f"{seconds:.3f} s"
    code = response["status"]["code"]
    assert code in VERDICTS, response
    told = "" if response["allowed"] else str(response["status"]["message"])
    _compare(asked, code, told)
    return str(len(response.get("warnings", []))) if response["allowed"] else None


def _timed(asked: Asked) -> tuple[Manifest, float]:
    """By the clock of this thread, and without the collector: what others do in this process is not the question."""
    with uncollected():
        began_at = time.thread_time()
        response = RUNNER.run(DOOR.ask(asked.kind, asked.review))
        return response, time.thread_time() - began_at


def _compare(asked: Asked, code: int, told: str) -> None:
    if GATEWAYS in told or not _is_text(asked.new):
        return  # a matter of who writes, or nothing that an API server would store
    house = _house(asked)
    if house is None or code == 400:
        assert (house is None) == (code == 400), f"the door says {code} {told!r}, the house {house!r}"
    elif not told:
        assert not house or _is_as_before(asked), house
    elif not (FLOOR in told or LEFT_OVER in told):
        assert house, told


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _house(asked: Asked) -> str | None:
    """None for what no controller can read."""
    try:
        return _TOLD[asked.kind](asked)
    except (SpecRejectedError, *Undecodable):
        return None


def _engine_told(asked: Asked) -> str:
    spec = parse_engine(asked.new).spec
    if spec is None:
        return ""
    try:
        inherited = parse_engine_class(asked.engine_class).spec
    except SpecRejectedError as err:
        return str(err)  # the engine waits for a class that can be read
    assert inherited is not None
    return told_of_engine(spec, inherited)


_TOLD: Final[dict[str, Callable[[Asked], str]]] = {
    "FireboltEngine": _engine_told,
    "FireboltEngineClass": lambda asked: told_of_class(parse_engine_class(asked.new)),
    "FireboltInstance": lambda asked: told_of_instance(parse_instance(asked.new)),
}
_PARSED: Final[dict[str, Callable[[bytes], Any]]] = {
    "FireboltEngine": parse_engine,
    "FireboltEngineClass": parse_engine_class,
    "FireboltInstance": parse_instance,
}


def _is_as_before(asked: Asked) -> bool:
    """What somebody else stored is not held against whoever labels it."""
    parse = _PARSED[asked.kind]
    try:
        return bool(asked.old) and parse(asked.old).spec == parse(asked.new).spec
    except (SpecRejectedError, *Undecodable):
        return False


def _bound(engine: bytes) -> bytes:
    return engine.replace(b'"instanceRef": "main"', b'"instanceRef": "main", "engineClassRef": "shared"')


def _hostile(rng: random.Random, body: bytes) -> bytes:
    """Mostly as it is."""
    odd = rng.random()
    if odd < 0.02:
        return with_depth(json.loads(body), "spec", rng.choice(("customEngineConfig", "template", "x")))
    return octets(rng, mutated(rng, body.decode(), ("{", "}", "null", '"spec"'))) if odd < 0.05 else body


def _old(rng: random.Random, new: bytes, other: bytes) -> bytes:
    """What is stored was readable once; it may be too deep for any decoder, and of a schema that we do not know."""
    deep = with_depth(json.loads(other), "spec", "x") if rng.random() < 0.05 else other
    return rng.choice((b"", b"", new, deep))


def _engine(rng: random.Random) -> Asked:
    if rng.random() < 0.01:
        large = rng.choice(templates.ENGINE_SHAPES)(MEBIBYTE)
        return Asked(kind="FireboltEngine", new=_bound(large[0]), engine_class=large[1])
    new, engine_class = templates.make_engine(rng)
    old = _old(rng, new, templates.make_engine(rng)[0])
    return Asked(
        kind="FireboltEngine",
        new=_hostile(rng, _bound(new)),
        old=_bound(old),
        engine_class=engine_class,
        user=rng.choice(USERS),
    )


def _class(rng: random.Random) -> Asked:
    if rng.random() < 0.01:
        return _asked_class(rng.choice(templates.ENGINE_SHAPES)(MEBIBYTE)[0])
    new = templates.make_engine(rng)[1]
    old = _old(rng, new, templates.make_engine(rng)[1])
    return Asked(kind="FireboltEngineClass", new=_hostile(rng, new), old=old)


def _asked_class(engine: bytes) -> Asked:
    document = json.loads(engine)
    spec = {name: value for name, value in document["spec"].items() if name != "instanceRef"}
    new = json.dumps({**document, "spec": {"template": {}, **spec}}).encode()
    return Asked(kind="FireboltEngineClass", new=new)


def _instance(rng: random.Random) -> Asked:
    if rng.random() < 0.01:
        return Asked(kind="FireboltInstance", new=rng.choice(templates.INSTANCE_SHAPES)(MEBIBYTE))
    new = templates.make_instance(rng)
    old = _old(rng, new, templates.make_instance(rng))
    return Asked(kind="FireboltInstance", new=_hostile(rng, new), old=old)


def _body(rng: random.Random) -> bytes:
    """A review as it may come from anybody who reaches the port."""
    whole = _engine(rng).review
    if rng.random() < 0.1 and len(whole) < MEBIBYTE // 8:
        try:
            return with_depth(json.loads(whole), "request", rng.choice(("object", "oldObject", "options", "x")))
        except (ValueError, RecursionError):
            return whole
    text = whole.decode(errors="replace")
    return octets(rng, mutated(rng, text, ("{", "}", "[", "]", "null", '"uid"', ",", ":"), untouched=0.5))


def _read_body(given: bytes) -> str | None:
    return read_review(given).operation


def _grown_review(size: int) -> bytes:
    return Asked(kind="FireboltEngine", new=b"[" * size).review


def _engine_shape(shape: Shape[Any]) -> Shape[Any]:
    def grown(size: int) -> Asked:
        new, engine_class = shape(size)
        return Asked(kind="FireboltEngine", new=_bound(new), engine_class=engine_class)

    return grown


def _class_shape(shape: Shape[Any]) -> Shape[Any]:
    return lambda size: _asked_class(shape(size)[0])


def _instance_shape(shape: Shape[Any]) -> Shape[Any]:
    return lambda size: Asked(kind="FireboltInstance", new=shape(size))


TARGETS: Final = (
    Target(
        name="admission of engines",
        make=_engine,
        read=_ask,
        is_accepted=is_known,
        findings=[
            *(_engine_shape(templates.ENGINE_SHAPES[number])(MEBIBYTE) for number in SLOW_ONCE),
            Asked(kind="FireboltEngine", new=b'{"metadata": {"name": "x"}, "sp\xff": {}}', user=USERS[-2]),
        ],
        shapes=[_engine_shape(shape) for shape in templates.ENGINE_SHAPES],
    ),
    Target(
        name="admission of classes",
        make=_class,
        read=_ask,
        is_accepted=is_known,
        shapes=[_class_shape(shape) for shape in templates.ENGINE_SHAPES],
    ),
    Target(
        name="admission of instances",
        make=_instance,
        read=_ask,
        is_accepted=is_known,
        shapes=[_instance_shape(shape) for shape in templates.INSTANCE_SHAPES],
    ),
    Target(
        name="bodies of reviews",
        make=_body,
        read=_read_body,
        refusals=(UnreadableReviewError,),
        is_accepted=is_known,
        shapes=[_grown_review, lambda size: b'{"request":' * (size // 11)],
    ),
)
