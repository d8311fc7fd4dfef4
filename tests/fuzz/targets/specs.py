"""What a pass reads besides the spec: the status, the annotations, events of others and the server's bookkeeping."""

import json
import random
import re
from typing import Any, Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.conditions import REASON_PATTERN, Condition, find_condition
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EngineReason
from firebolt_operator.api.serialise import encode_status, parse_engine
from firebolt_operator.api.time_zones import time_zone
from firebolt_operator.engine.decide.autostop import Observation, Policy, decide_autostop, parse_wake_request
from firebolt_operator.engine.decide.conditions import with_verdict
from firebolt_operator.engine.decide.warnings import refined_verdict
from firebolt_operator.engine.inherited_settings import idle_timeout, poll_interval
from firebolt_operator.engine.render.drift.comparison import Element
from firebolt_operator.engine.render.drift.fields import AppliedFields
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import live_object
from firebolt_operator.observability.events import MOST_NOTE_BYTES, shortened
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest
from tests.fuzz.mutation import HOSTILE, composed, mutated, odd_value, texts
from tests.fuzz.target import Target, anything
from tests.fuzz.targets.words import CLOCK_TIMES, NO_ZONES, NOW, ZONES, instant

MOST_MESSAGE: Final = 32_768  # characters of a condition's message that the API server takes
VERDICT: Final = Verdict(status="False", reason=EngineReason.ROLLING, message="Engine is in creating phase")


# An engine with auto-stop, as far as anybody may write it


def _engine(rng: random.Random) -> bytes:
    windows = [{"start": texts(CLOCK_TIMES)(rng), "end": texts(CLOCK_TIMES)(rng), "days": rng.choice(([], ["Sun"]))}]
    policy = {
        "enabled": True,
        "activeReplicas": rng.choice((1, 2, 2**31)),
        "idleTimeout": rng.choice(("30m", "0", "292y", "2562047h47m16.854775807s", "-1h")),
        "timeZone": texts(ZONES + NO_ZONES)(rng),
        "schedule": rng.choice(([], windows)),
    }
    times = {
        name: composed(instant)(rng) for name in ("lastActivityTime", "wakeHandledAt", "switchedAt", "lastScaledAt")
    }
    status = {
        "currentGeneration": 1,
        "activeGeneration": rng.choice((-1, 1, 2**63)),
        "phase": rng.choice(("stable", "", "?")),
    }
    status |= {name: value for name, value in times.items() if rng.random() < 0.4}
    annotations = {names.ANNOTATION_WAKE_REQUESTED: composed(instant)(rng)}
    odd = {rng.choice(("conditions", "phase", "replicas")): odd_value(rng)} if rng.random() < 0.1 else {}
    spec = {"instanceRef": "main", "replicas": rng.choice((0, 0, 1)), "autoStop": policy}
    return _encoded({"metadata": {"name": "e", "annotations": annotations}, "spec": spec, "status": status | odd})


def _encoded(document: Any) -> bytes:
    """As the API server sends it: no half characters."""
    return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def _keep_engine(body: bytes) -> FireboltEngine:
    """Parked, woken or left alone; and whatever the status holds can be written again, and read."""
    engine = parse_engine(body)
    assert engine.spec is not None
    settings = engine.spec.auto_stop
    assert settings is not None
    zone = time_zone(settings.time_zone)
    policy = Policy(
        settings=settings, idle_timeout=idle_timeout(settings), poll_interval=poll_interval(settings), zone=zone
    )
    seen = Observation(
        replicas=engine.spec.replicas,
        last_activity_at=engine.status.last_activity_time,
        wake_requested_at=parse_wake_request(engine.metadata.annotations.get(names.ANNOTATION_WAKE_REQUESTED)),
        wake_handled_at=engine.status.wake_handled_at,
        active_queries=0,
        looked_at=NOW,
    )
    decide_autostop(policy, seen, now=NOW)
    written = msgspec.json.encode({"metadata": {}, "status": encode_status(engine.status)})
    assert parse_engine(written).status.phase == engine.status.phase
    return engine


def _stamped(instant: str) -> bytes:
    spec = {"instanceRef": "main", "replicas": 1, "autoStop": {"activeReplicas": 1}}
    status = {"currentGeneration": 1, "activeGeneration": 1, "lastActivityTime": instant}
    return _encoded({"metadata": {}, "spec": spec, "status": status})


# Events that anybody may write about a StatefulSet


def _event(rng: random.Random) -> Any:
    reason = mutated(rng, rng.choice(("FailedCreate", "A", "a:b", "x" * 1_100)), ("B\n", "_"))
    message = rng.choice(("no quota", "x" * 40_000, "  ", "\u00e9" * 33_000)) + rng.choice(HOSTILE)
    event = {"type": "Warning", "reason": reason, "message": message, "count": rng.choice((1, None, 0, 7))}
    return event | {"lastTimestamp": rng.choice((None, "2026-01-01T00:00:00Z")), "series": {"count": 3}, "metadata": {}}


def _refine(body: bytes) -> Condition:
    """The verdict becomes a condition that the API server takes."""
    verdict = refined_verdict(VERDICT, "sales-g1", msgspec.json.decode(body))
    engine = parse_engine(b'{"metadata":{}}')
    status = with_verdict(engine.status, names.CONDITION_READY, verdict, spec_generation=1, now=NOW)
    found = find_condition(status.conditions, names.CONDITION_READY)
    assert found is not None
    assert len(found.message) <= MOST_MESSAGE
    assert len(found.reason) <= 1024
    assert re.fullmatch(REASON_PATTERN.removesuffix("$"), found.reason)
    assert len(shortened(found.message).encode()) <= MOST_NOTE_BYTES
    return found


def _warning(reason: str, message: str) -> bytes:
    return _encoded([{"type": "Warning", "reason": reason, "message": message}])


# Bookkeeping: the server keeps it for everybody, and whoever writes an object may write this as well


def _managed(rng: random.Random) -> Manifest:
    keys = (
        'k:{"name":"engine"}',
        'k:{"name":"engine"}',
        "k:{",
        "k:[]",
        'k:{"containerPort":' + "9" * 5_000 + "}",
        "f:containers",
        "f:spec",
        ".",
        "v:1",
    )
    fields: Any = rng.choice(({"f:image": {}}, {"f:image": {}}, {}, odd_value(rng)))
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        fields = {rng.choice(keys): fields} | ({rng.choice(keys): {}} if rng.random() < 0.3 else {})
    path: Any = {"f:spec": {"f:template": {"f:spec": {"f:containers": fields}}}}
    entry = {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": rng.choice((path, path, fields))}
    spec = {"template": {"spec": {"containers": [{"name": "engine"}]}}}
    return {"metadata": {"name": "e", "managedFields": [entry]}, "spec": rng.choice((spec, odd_value(rng)))}


def _applied(fields: Any) -> Manifest:
    entry = {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": fields}
    return {"metadata": {"name": "e", "managedFields": [entry]}, "spec": {"template": {"spec": {"containers": [{}]}}}}


def _applied_in_containers(fields: Any) -> Manifest:
    return _applied({"f:spec": {"f:template": {"f:spec": {"f:containers": fields}}}})


def _many_keys(size: int) -> Manifest:
    return _applied_in_containers({f'k:{{"n":{number}}}': {} for number in range(size // 12)})


def _look_up(live: Manifest) -> tuple[bool, bool]:
    path = ("spec", "template", "spec", "containers", Element(0, {"name": "engine"}), "image")
    return AppliedFields(live).has(path), is_applied({"spec": live["spec"]}, live_object(live))


TARGETS: Final = (
    Target(
        name="statuses and auto-stop",
        make=_engine,
        read=_keep_engine,
        findings=[
            _stamped("0001-01-01T00:00:00+23:59"),
            _stamped("9999-12-31T23:59:59-23:59"),
            _stamped("2026-01-01T00:00:00"),
        ],
        refusals=(SpecRejectedError,),
        is_accepted=anything,
    ),
    Target(
        name="events of others",
        make=lambda rng: _encoded([_event(rng) for _ in range(rng.randrange(3))]),
        read=_refine,
        findings=[_warning("FailedCreate\n", "x"), _warning("A" * 1_025, "x"), _warning("A", "x" * 40_000)],
        is_accepted=lambda condition: isinstance(condition, Condition) and condition.reason != EngineReason.ROLLING,
        shapes=[lambda size: _encoded([{"type": "Warning", "message": " " * size + "x", "reason": "A" * size}])],
    ),
    Target(
        name="managed fields",
        make=_managed,
        read=_look_up,
        findings=[
            _applied("a"),
            _applied_in_containers(5),
            _applied_in_containers({"k:{": {}}),
            _applied_in_containers({"k:[]": {}}),
            _applied_in_containers({'k:{"name":' + "9" * 5_000 + "}": {}}),
        ],
        is_accepted=lambda answer: answer != (False, False),
        shapes=[_many_keys],
    ),
)
