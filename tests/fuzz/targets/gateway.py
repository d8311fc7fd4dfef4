"""What clients send to the gateway: its scripts in the Lua that Envoy runs, against a second reading of the rules."""

import random
from typing import Final
from urllib.parse import unquote_to_bytes

from tests.fuzz.mutation import composed
from tests.fuzz.target import Target, text_shape
from tests.support.growth import Shape
from tests.support.lua_harness import Outcome, Worker
from tests.support.selector_vectors import CONFLICT, ENCODING, INVALID_HEADER, MISSING, MULTIPLE

Request = tuple[str, str | None]  # path and header
HEX: Final = frozenset("0123456789abcdefABCDEF")
NAME: Final = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-")
DECISIONS: Final = ("ready", "released", "missing", "stopped", "shed", "timeout", "rejected", "unsynced", "", None)
SELECTOR: Final = Worker()
HOLD: Final = Worker(wake=True)


def _query(rng: random.Random) -> str:
    names = ("engine", "engine", "%65ngine", "Engine", "eng+ine", "database", "", "a%zz", "output_format")
    values = ("eng", "eng", "my-eng", "my%2Deng", "%zz", "", "a.b", "a" * 64, "-a", "%00", "SELECT+1", "%C3%A9")
    parts = (
        f"{rng.choice(names)}{rng.choice(('=', '=', '=', ''))}{rng.choice(values)}" for _ in range(rng.randrange(4))
    )
    return (
        rng.choice(("/", "/", "/sub/path", ""))
        + rng.choice(("?", "?", "?", ""))
        + rng.choice(("&", "&", "&&")).join(parts)
    )


def _latin(text: str) -> str:
    """Envoy hands over bytes, and refuses a NUL before any script sees it."""
    return text.encode(errors="surrogatepass").decode("latin-1")


def _request(rng: random.Random) -> Request:
    header = rng.choice((None, None, "eng", "my-eng", "Eng", "-eng", "a" * 64, "a.b", "", "\x00", "e ng"))
    return _latin(composed(_query)(rng)), header


def _decoded(text: str) -> str | None:
    """Strictly: a percent sign that two hex digits do not follow makes it unreadable."""
    rest = text.split("%")[1:]
    if any(len(each) < 2 or not HEX.issuperset(each[:2]) for each in rest):
        return None
    return unquote_to_bytes(text.replace("+", " ").encode("latin-1")).decode("latin-1")


def _is_name(name: str) -> bool:
    return 1 <= len(name) <= 63 and NAME.issuperset(name) and not (name.startswith("-") or name.endswith("-"))


def expected(path: str, header: str | None) -> tuple[str, str] | str:
    """Engine and path, or the refusal."""
    base, mark, query = path.partition("?")
    parts = query.split("&") if mark else []
    named = [part for part in parts if _decoded(part.partition("=")[0]) == "engine"]
    chosen = [_decoded(part.partition("=")[2]) for part in named]
    if chosen and chosen[0] is None:
        return ENCODING
    if len(chosen) > 1:
        return MULTIPLE
    if header is not None and not _is_name(header):
        return INVALID_HEADER
    engine = chosen[0] if chosen else header
    if header is not None and engine != header:
        return CONFLICT
    if engine is None or not _is_name(engine):
        return MISSING
    kept = "&".join(part for part in parts if part not in named)
    return engine, path if not chosen else f"{base}?{kept}" if kept else base


def _found(outcome: Outcome) -> tuple[str, str] | str:
    if outcome.reply is not None:
        assert outcome.reply.headers == {":status": "400"}
        assert outcome.headers[":authority"] == "evil.example.com"
        return outcome.reply.body
    engine = outcome.headers["x-firebolt-engine"]
    assert outcome.headers[":authority"] == f"{engine}-service.ns.svc.cluster.local:3473"
    return engine, outcome.headers[":path"]


def _select(request: Request) -> tuple[str, str] | str:
    found = _found(SELECTOR.request(*request))
    assert found == expected(*request)
    return found


def _hold_request(rng: random.Random) -> tuple[Request, int, str | None, str]:
    status = rng.choice(("200", "200", "503", "404", "400", ""))
    return _request(rng), rng.choice((0, 1, 199, 250, 10_000, -5_000)), rng.choice(DECISIONS), status


def _hold(given: tuple[Request, int, str | None, str]) -> object:
    """Whatever the agent says, only its own refusal turns a query away; the host is never the client's."""
    request, later_ms, decision, status = given
    HOLD.now_ms += later_ms
    HOLD.agent_says = {":status": status} | ({} if decision is None else {"x-firebolt-wake-decision": decision})
    outcome = HOLD.request(*request)
    chosen = expected(*request)
    if isinstance(chosen, str):
        assert (_found(outcome), outcome.holds) == (chosen, [])
        return chosen
    assert outcome.headers[":authority"] == f"{chosen[0]}-service.ns.svc.cluster.local:3473"
    is_refused = bool(outcome.holds) and decision is not None and status != "200"
    assert (outcome.reply is not None) == is_refused
    assert [hold.path for hold in outcome.holds] in ([], [f"/hold?engine={chosen[0]}"])
    return None if is_refused else chosen


def _is_routed(answer: object) -> bool:
    return isinstance(answer, tuple)


def _grown_path(part: str) -> Shape[Request]:
    path = text_shape(part, "/?", "&engine=b")
    return lambda size: (path(size), None)


PARTS: Final = ("&", "engine=a&", "%41", "a=1&", "+", "%", "?", "engine", "\xff")
TARGETS: Final = (
    Target(
        name="Lua: engine selection",
        make=_request,
        read=_select,
        is_accepted=_is_routed,
        shapes=[_grown_path(part) for part in PARTS],
    ),
    Target(
        name="Lua: hold",
        make=_hold_request,
        read=_hold,
        is_accepted=_is_routed,
        shapes=[lambda size: ((text_shape("a=1&", "/?", "engine=b")(size), None), 300, "ready", "200")],
    ),
)
