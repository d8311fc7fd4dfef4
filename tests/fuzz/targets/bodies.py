"""Whole bodies: what pods answer when asked for metrics, and what the API server passes on of others' objects."""

import asyncio
import base64
import json
import random
from collections.abc import Callable
from typing import Any, Final

from prometheus_client.parser import text_string_to_metric_families

from firebolt_operator.api.resources import CONFIG_MAPS, ENDPOINT_SLICES, PODS, SECRETS, STATEFULSETS
from firebolt_operator.engine.answers import Activity
from firebolt_operator.engine.listener_views import decode_listener_secret
from firebolt_operator.engine.observe.gauges import RUNNING, SUSPENDED, parse_activity
from firebolt_operator.engine.views import decode_config_map, decode_pod, decode_statefulset
from firebolt_operator.errors import OperatorError
from firebolt_operator.instance.views import decode_secret
from firebolt_operator.kube.decoding import decode_answer, decode_listing
from firebolt_operator.kube.scanning import elements, members
from firebolt_operator.kube.set_aside import outline, split_event, split_list
from firebolt_operator.kube.translate import refusal, watch_error
from firebolt_operator.manifests.live_objects import decode_live
from firebolt_operator.reconciling.issued_views import decode_gateway_secret, decode_generation_authority
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.wake.decide.slices import decode_slice
from firebolt_operator.wake.envoy_admin import parse_memory
from firebolt_operator.wake.routing import is_routable
from tests.fuzz.mutation import composed, deep_value, mutated, octets, odd_value
from tests.fuzz.target import Target, anything, bytes_shape, is_known, text_shape
from tests.support.growth import Shape

LONGEST_MESSAGE: Final = 4_200  # characters of an error: it ends in conditions and logs
RUNNER: Final = asyncio.Runner()


# What pods say about themselves


def _series(rng: random.Random) -> str:
    name = rng.choice((RUNNING, SUSPENDED, f"{RUNNING}_total", "other"))
    labels = rng.choice(("", "", '{pod="a"}', '{a="b",c="}"}', '{a="\\"\\\\\\n"}', "{}", '{a="{"}'))
    value = rng.choice(("0", "0", "1", "2.5", "1e3", "NaN", "+Inf", "-1", "0x1", "1_0", "\u0663", "1e999"))
    return f"{name}{labels} {value}{rng.choice(('', '', ' 1700000000000'))}"


def _metrics(rng: random.Random) -> str:
    both = [f"{name} {rng.choice(('0', '0', '3', '1.5'))}" for name in (RUNNING, SUSPENDED)]
    lines = [*both, *(_series(rng) for _ in range(rng.randrange(3))), f"# HELP {RUNNING} 5", f"# TYPE {RUNNING} gauge"]
    rng.shuffle(lines)
    return rng.choice(("\n", "\n", "\r\n")).join(lines) + "\n"


def _by_another_parser(text: str) -> list[float]:
    families = text_string_to_metric_families(text)
    return [sample.value for each in families for sample in each.samples if sample.name in {RUNNING, SUSPENDED}]


def _read_metrics(text: str) -> Activity:
    """Idle only where another parser finds nothing that runs either, if it can read the text at all."""
    activity = parse_activity(text)
    try:
        counted = _by_another_parser(text)
    except Exception:  # noqa: BLE001 - it is stricter in places, and raises whatever it meets
        return activity
    assert not activity.is_idle or all(-1 < each < 1 for each in counted), counted
    return activity


# JSON, taken apart without recursion


def _document(rng: random.Random) -> Any:
    document = {rng.choice(("a", "metadata", "spec", "\u00e9", "")): odd_value(rng) for _ in range(rng.randrange(5))}
    return document | ({"deep": deep_value(rng)} if rng.random() < 0.05 else {})


def _json(rng: random.Random, document: Any) -> str:
    layout: dict[str, Any] = rng.choice(({}, {"separators": (",", ":")}, {"indent": 1}, {"ensure_ascii": False}))
    return json.dumps(document, **layout)


def _json_bytes(make: Callable[[random.Random], Any]) -> Callable[[random.Random], bytes]:
    def made(rng: random.Random) -> bytes:
        valid = _json(rng, make(rng))
        return octets(rng, mutated(rng, valid, (_json(rng, make(rng)), '"items":[', "null"), untouched=0.4))

    return made


def _loaded(text: bytes) -> Any:
    """None where the standard library cannot read it."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _read_members(text: bytes) -> int:
    found = {name: text[value.start : value.end] for name, value in members(text)}
    document = _loaded(text)
    assert not isinstance(document, dict) or document == {name: json.loads(value) for name, value in found.items()}
    return 1 + len(found)


def _read_elements(text: bytes) -> int:
    found = [text[each.start : each.end] for each in elements(text)]
    document = _loaded(text)
    assert not isinstance(document, list) or document == [json.loads(each) for each in found]
    return 1 + len(found)


def _listing(rng: random.Random) -> Any:
    items = [
        {"metadata": {"name": "a", "resourceVersion": "1"}, "spec": _document(rng)} for _ in range(rng.randrange(4))
    ]
    return {
        "kind": "List",
        "metadata": {"resourceVersion": "7", "continue": ""},
        "items": rng.choice((items, items, None)),
    }


def _read_listing(body: bytes) -> object:
    metadata, items = RUNNER.run(decode_listing("listing", body))
    document = _loaded(body)
    assert document is None or len(document.get("items") or ()) == len(items)
    return metadata, len(items)


def _event(rng: random.Random) -> Any:
    kind = rng.choice(("ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR", "?"))
    return {"type": kind, "object": {"metadata": {"name": "a"}, "spec": _document(rng)}}


def _read_answer(body: bytes) -> object:
    kept, manifest = RUNNER.run(decode_answer("reading", body))
    return type(kept), sorted(manifest)


def _status(rng: random.Random) -> Any:
    words = rng.choice(("not found", "", "x" * 5_000, "\u00e9" * 600, "failed to create typed patch object"))
    return {"kind": "Status", "message": words, "reason": rng.choice(("AlreadyExists", "", "NotFound")), "code": 404}


def _read_refusal(body: bytes) -> object:
    """A pod that is asked through the API server writes this body itself."""
    code = 400 + len(body) % 200
    errors = refusal("scraping", code, body, is_write=False), watch_error("watching", body)
    assert all(len(str(each)) <= LONGEST_MESSAGE for each in errors)
    return errors[0] if "Status" in str(body) and _loaded(body) else None


# Objects of others, on their way into a cache


def _object(rng: random.Random) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": "a", "namespace": "ns", "uid": "u", "resourceVersion": "5"}
    labels = {"firebolt.io/engine": "e", "firebolt.io/generation": rng.choice(("1", "x", "9" * 63, "\u0663"))}
    optional = {
        "labels": labels | {"kubernetes.io/service-name": rng.choice(("e-service", "-service", "x"))},
        "ownerReferences": [{"uid": "o", "controller": True, "kind": "StatefulSet", "name": "s"}],
        "managedFields": [{"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": {"f:spec": {}}}],
        "deletionTimestamp": rng.choice(("2026-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59", "x")),
        "generation": rng.choice((1, 2**63, -1, "1")),
    }
    kept = {name: value for name, value in optional.items() if rng.random() < 0.5}
    odd = {rng.choice(tuple(optional)): odd_value(rng)} if rng.random() < 0.2 else {}
    return {"metadata": metadata | kept | odd, "spec": odd_value(rng), "data": {"k": "dg=="}}


def _pod(rng: random.Random) -> Any:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": "x" * rng.choice((3, 3_000))}}
    container = {"name": rng.choice(("engine", "x")), "ready": False, "state": state, "lastState": {}}
    status = {
        "phase": "Running",
        "podIP": rng.choice(("10.0.0.1", "::1", "")),
        "containerStatuses": [container],
        "conditions": [{"type": "Ready", "status": rng.choice(("True", "False"))}],
    }
    return _object(rng) | {"status": rng.choice((status, status, status, odd_value(rng)))}


def _slice(rng: random.Random) -> Any:
    endpoint = {"addresses": ["10.0.0.1"], "conditions": {"ready": rng.choice((True, False, None))}}
    return _object(rng) | {"endpoints": rng.choice(([endpoint], [endpoint], None, [], odd_value(rng)))}


def _secret(rng: random.Random) -> Any:
    value = rng.choice(("ZmlyZWJvbHQ=", "", "=", "\u00e9", "Zg", "////"))
    return _object(rng) | {"type": "Opaque", "data": {"username": value, "database": value, "password": "x"}}


def _issued(rng: random.Random) -> Any:
    """As cert-manager writes it, or as somebody who would like to be taken for it."""
    texts = (*(begin + end for begin in PEM_PIECES for end in ("", "\nMIIB\n-----END CERTIFICATE-----")), "", "x")
    keys = ("tls.crt", "tls.key", "ca.crt", "crl.pem")
    data = {key: base64.b64encode(rng.choice(texts).encode()).decode() for key in keys if rng.random() < 0.8}
    return _object(rng) | {"data": rng.choice((data, data, data, None, odd_value(rng)))}


def _pem_shape(key: str, piece: str) -> Shape[Any]:
    def made(size: int) -> bytes:
        text = base64.b64encode((piece * (size // len(piece) + 1)).encode()).decode()
        return json.dumps({"metadata": {"name": "a", "namespace": "ns"}, "data": {key: text}}).encode()

    return made


PEM_PIECES: Final = (
    "-----BEGIN X509 CRL-----\n",
    "-----END X509 CRL-----\n",
    "-----BEGIN X509 CRL-----\nx\n-----END X509 CRL-----\n",
    "-----BEGIN CERTIFICATE-----\n",
    "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n",
    "-----BEGIN PRIVATE KEY-----\n",
)
PEM_SHAPES: Final = [
    _pem_shape(key, piece) for key in ("tls.crt", "tls.key", "ca.crt", "crl.pem") for piece in PEM_PIECES
]


def _cached(resource: Resource, decode: Callable[[bytes], object]) -> Callable[[bytes], object]:
    """Through a cache, as the watch and every write bring it: one bad object only hurts itself."""

    def read(body: bytes) -> object:
        cache = Cache(resource, decode)
        cache.written(Ref(resource, "ns", "a"), body)
        return cache.values()

    return read


def _spoken(rng: random.Random) -> str:
    value = rng.choice(("12345", "0", "\u0663", "-1", "1e3", "9" * 4_400))
    return f"server.memory_allocated: {value}\nother: 1\n"


HOST: Final = "e-service.ns.svc.cluster.local"


def _clusters(rng: random.Random) -> str:
    cluster = f"DFPCluster:{HOST}:3473"
    flags = rng.choice(("healthy", "/failed_active_hc"))
    return f"{cluster}::10.0.0.1:3473::health_flags::{flags}\n{cluster}::observability_name::x\n"


JSON_PIECES: Final = ("[", '{"a":', '{"a":[', "[],", '"', "\\", " ", "1", '{"a":1},', '"\\\\')
JSON_SHAPES: Final[list[Shape[Any]]] = [
    *(
        bytes_shape(piece, begin, end)
        for piece in JSON_PIECES
        for begin in ("[", '{"items":[')
        for end in ("", "]", "0]}")
    ),
    lambda size: b'{"metadata":{"name":"a","x":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}}",
]
METRIC_PIECES: Final = (
    "x ",
    f"{RUNNING} ",
    f"{RUNNING}{{",
    f'{RUNNING}{{a="',
    f"{RUNNING} 1\n",
    "\n",
    " ",
    '\\"',
    "{}",
)
METRIC_SHAPES: Final = [text_shape(piece, end=end) for piece in METRIC_PIECES for end in ("", "!", "\n")]
REFUSED: Final = (ValueError,)
TARGETS: Final = (
    Target(
        name="metrics bodies",
        make=composed(_metrics),
        read=_read_metrics,
        refusals=REFUSED,
        is_accepted=anything,
        shapes=METRIC_SHAPES,
    ),
    Target(
        name="JSON scanner: objects",
        make=_json_bytes(_document),
        read=_read_members,
        refusals=REFUSED,
        shapes=JSON_SHAPES,
    ),
    Target(
        name="JSON scanner: arrays",
        make=_json_bytes(lambda rng: [odd_value(rng) for _ in range(rng.randrange(5))]),
        read=_read_elements,
        refusals=REFUSED,
        shapes=JSON_SHAPES,
    ),
    Target(name="outlines", make=_json_bytes(_object), read=outline, refusals=REFUSED, shapes=JSON_SHAPES),
    Target(name="lists, split", make=_json_bytes(_listing), read=split_list, refusals=REFUSED, shapes=JSON_SHAPES),
    Target(
        name="lists",
        make=_json_bytes(_listing),
        read=_read_listing,
        refusals=(OperatorError,),
        findings=[b'{"metadata":{"x":' + b"[" * 2_000 + b"]" * 2_000 + b'},"items":[]}'],
        shapes=JSON_SHAPES,
    ),
    Target(name="watch events", make=_json_bytes(_event), read=split_event, refusals=REFUSED, shapes=JSON_SHAPES),
    Target(
        name="answers",
        make=_json_bytes(_object),
        read=_read_answer,
        refusals=(OperatorError,),
        findings=[b'{"metadata":{"name":"a"},"spec":[' + b"1" * 5_000 + b"]}"],  # a number that the decoder refuses
        shapes=JSON_SHAPES,
    ),
    Target(
        name="error answers",
        make=_json_bytes(_status),
        read=_read_refusal,
        findings=[b'{"kind":"Status","message":"' + b"x" * 40_000 + b'"}'],
        shapes=JSON_SHAPES,
    ),
    Target(
        name="cached ConfigMaps",
        make=_json_bytes(_object),
        read=_cached(CONFIG_MAPS, decode_config_map),
        shapes=JSON_SHAPES,
    ),
    Target(
        name="cached StatefulSets",
        make=_json_bytes(_object),
        read=_cached(STATEFULSETS, decode_statefulset),
        shapes=JSON_SHAPES,
    ),
    Target(name="cached pods", make=_json_bytes(_pod), read=_cached(PODS, decode_pod), shapes=JSON_SHAPES),
    Target(
        name="cached EndpointSlices",
        make=_json_bytes(_slice),
        read=_cached(ENDPOINT_SLICES, decode_slice),
        shapes=JSON_SHAPES,
    ),
    Target(
        name="cached instance objects",
        make=_json_bytes(_object),
        read=_cached(CONFIG_MAPS, decode_live),
        shapes=JSON_SHAPES,
    ),
    Target(name="cached Secrets", make=_json_bytes(_secret), read=_cached(SECRETS, decode_secret), shapes=JSON_SHAPES),
    *(
        Target(
            name=f"cached Secrets of {whose}",
            make=_json_bytes(_issued),
            read=_cached(SECRETS, decode),
            shapes=[*JSON_SHAPES, *PEM_SHAPES],
        )
        for whose, decode in (
            ("engines", decode_listener_secret),
            ("generations", decode_generation_authority),
            ("gateways", decode_gateway_secret),
        )
    ),
    Target(
        name="Envoy's memory",
        make=composed(_spoken),
        read=parse_memory,
        is_accepted=is_known,
        findings=["server.memory_allocated: " + "9" * 4_400],
    ),
    Target(name="Envoy's clusters", make=composed(_clusters), read=lambda text: is_routable(text, HOST, ["10.0.0.1"])),
)
