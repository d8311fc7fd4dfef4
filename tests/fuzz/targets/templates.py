"""Pod templates and configuration of our three kinds, from their JSON through checks and rendering to drift.

The schema refuses most of what is odd here. But definitions are updated after the operator, or before it, and what an
older one let in is still stored: whatever a template holds, a pass ends with a verdict or with objects.
"""

import json
import random
from typing import Any, Final

import msgspec

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.api.serialise import parse_engine, parse_engine_class, parse_instance
from firebolt_operator.engine.decide.gates import judge_template
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs
from firebolt_operator.engine.render.renderer import EngineRenderer
from firebolt_operator.engine.views import decode_statefulset
from firebolt_operator.engineclass.decide.status import decide_status
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.instance.render.metadata_config import config_problem
from firebolt_operator.instance.render.renderer import InstanceRenderer
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.instance_checks import check_instance, rejected_component
from firebolt_operator.refs import Manifest
from tests.fuzz.mutation import deep_value, odd_value
from tests.fuzz.target import Target, is_known
from tests.fuzz.targets.words import NOW
from tests.support.deep import indented_at_length
from tests.support.engine_inputs import IMAGES, INSTANCE
from tests.support.growth import Shape
from tests.support.instances import IMAGES as INSTANCE_IMAGES

BOUNDS: Final = parse_bounds(cpu="4", memory="8Gi", ephemeral_storage="1Ti")
METADATA: Final[Manifest] = {"name": "sales", "namespace": "apps", "uid": "4b1c5a0e", "generation": 3}
SAMPLES: Final[dict[str, tuple[Any, ...]]] = {
    "string": ("x", "engine", "envoy", "metadata", "1Gi", "img:latest", "my-secret", "", "/mnt", "Always", "\u00e9"),
    "integer": (0, 1, 8080, 2**31 - 1, -1),
    "boolean": (True, False),
    "number": (0.5, 1),
}
FAVOURED: Final = ("metadata", "spec", "containers", "initContainers", "volumes", "resources", "env", "volumeMounts")


def value_of(rng: random.Random, schema: Manifest, *, odd: float) -> Any:
    """Something that the schema allows; with this probability, at each place, anything else instead."""
    if rng.random() < odd:
        return odd_value(rng)
    match schema.get("type", "object"):
        case "object":
            return _object(rng, schema, odd=odd)
        case "array":
            return [value_of(rng, schema["items"], odd=odd) for _ in range(rng.choice((0, 1, 1, 2)))]
        case kind:
            return rng.choice(SAMPLES[kind])


def _object(rng: random.Random, schema: Manifest, *, odd: float) -> Manifest:
    properties: Manifest = schema.get("properties", {})
    if not properties:
        inner = schema.get("additionalProperties", {"type": "string"})
        return {
            rng.choice(("a", "cpu", "memory", "x/y")): value_of(rng, inner, odd=odd) for _ in range(rng.randrange(3))
        }
    likely = [name for name in FAVOURED if name in properties and rng.random() < 0.6]
    chosen = [
        *likely,
        *rng.sample(sorted(properties), min(len(properties), rng.randrange(4))),
        *schema.get("required", ()),
    ]
    found = {name: value_of(rng, properties[name], odd=odd) for name in dict.fromkeys(chosen)}
    return found | ({"unknown": odd_value(rng)} if rng.random() < odd else {})


def template(rng: random.Random) -> Any:
    return value_of(rng, pod_template_schema(), odd=rng.choice((0, 0, 0.02, 0.2)))


def _config(rng: random.Random) -> Any:
    sections = ("engine", "instance", "logging", "schema_version", "endpoints", "storage", "")
    config = {rng.choice(sections): odd_value(rng) for _ in range(rng.randrange(4))}
    return config | ({"engine": deep_value(rng)} if rng.random() < 0.1 else {})


def _settings(rng: random.Random) -> Manifest:
    """What engines and classes share."""
    claim = {"size": rng.choice(("1Gi", 0, "0", "x", "9" * 70)), "accessModes": rng.choice(([], ["ReadWriteMany"]))}
    storage = {
        "persistentVolumeClaim": claim,
        "emptyDir": {"sizeLimit": rng.choice(("1Gi", 5, "x"))},
        "hostPath": {"path": "/x"},
    }
    schedule = [{"start": "08:00", "end": rng.choice(("17:00", "07:00", "08:00")), "days": ["Mon"]}]
    times = ("30s", "1h30m", "0", "-5s", "soon", "", "9" * 70, "2562047h47m16.854775807s")
    optional = {
        "template": template(rng),
        "uiSidecar": rng.choice((True, False)),
        "rollout": "recreate",
        "drainCheckInterval": rng.choice(times),
        "drainTimeout": rng.choice(times),
        "progressDeadline": rng.choice(times),
        "storage": {kind: storage[kind] for kind in rng.sample(sorted(storage), 1)},
        "customEngineConfig": _config(rng),
        "autoStop": {
            "activeReplicas": rng.choice((1, 2, 2_000)),
            "idleTimeout": rng.choice(times),
            "schedule": schedule,
        },
    }
    return {name: value for name, value in optional.items() if name == "template" or rng.random() < 0.3}


def make_engine(rng: random.Random) -> tuple[bytes, bytes]:
    spec = _settings(rng) | {"instanceRef": "main", "replicas": rng.choice((0, 1, 3))}
    odd = {rng.choice(("replicas", "storage", "autoStop", "template")): odd_value(rng)} if rng.random() < 0.05 else {}
    engine = {"metadata": METADATA, "spec": spec | odd}
    engine_class = {"metadata": METADATA, "spec": {"template": {}} | (_settings(rng) if rng.random() < 0.5 else {})}
    return json.dumps(engine).encode(), json.dumps(engine_class).encode()


def _render_engine(given: tuple[bytes, bytes]) -> str | None:
    """None for an engine that is refused. What was rendered is no drift once it is stored."""
    engine, engine_class = parse_engine(given[0]), parse_engine_class(given[1])
    decide_status(engine_class, 0, bounds=BOUNDS, now=NOW)
    assert engine.spec is not None
    assert engine_class.spec is not None
    inherited = ClassInfo(name="shared", spec=engine_class.spec)
    problems = spec_problems(engine.spec, inherited, BOUNDS)
    assert problems is None or len(problems.message) < 4_000
    if judge_template(engine.spec, inherited, INSTANCE, BOUNDS).refused is not None:
        return None
    inputs = EngineInputs(
        name="sales",
        namespace="apps",
        uid="u",
        spec=engine.spec,
        engine_class=inherited,
        instance=INSTANCE,
        images=IMAGES,
    )
    blueprint = EngineRenderer(inputs)
    json.loads(blueprint.config_map(1)["data"]["config.yaml"])
    stored = decode_statefulset(msgspec.json.encode(blueprint.statefulset(1)))
    assert blueprint.drift(stored) is None, blueprint.drift(stored)
    return str(len(repr(stored.spec)))


def _some(rng: random.Random, document: Manifest) -> Manifest:
    """Most of it."""
    return {name: value for name, value in document.items() if rng.random() < 0.8}


def _auth(rng: random.Random) -> Manifest:
    times = ("1h", "1d", "0s", "-1d", "soon", "", "0.5d", "9" * 70)
    key = {
        "issuerRef": {"name": "ca"},
        "algorithm": rng.choice(("RSA", "ECDSA")),
        "size": rng.choice((0, 256, 384, 2048)),
    }
    keys = {"rotationInterval": rng.choice(("720h", "0", "often")), "retainDuration": rng.choice(("24h", "48h", ""))}
    mappings = ("{{ email }}", "{{ iss }}", "firebolt", " {{iss}}|x", "{{ ISS }}", "")
    provider = {"discoveryURL": "https://x", "jwks": {"cacheTTL": rng.choice(times)}}
    providers = [
        {**provider, "name": rng.choice(("okta", "azure")), "usernameMapping": rng.choice(mappings)}
        for _ in range(rng.randrange(1, 3))
    ]
    local = {
        "admin": {"password": {"name": rng.choice(("admin", "")), "key": "password"}},
        "signingAlgorithm": rng.choice(("ES256", "ES384", "RS256")),
        "signingKeys": {"certManager": key} | (keys if rng.random() < 0.5 else {}),
        "tokenExpiry": rng.choice(times),
        "maxTokenAge": rng.choice(times),
        "clockSkewTolerance": rng.choice(times),
    }
    whole = {"local": {"admin": local["admin"], **_some(rng, local)}, "oidc": {"providers": providers}}
    return {
        "enabled": rng.random() < 0.8,
        **_some(rng, whole),
        "preferredAuthorizationServer": rng.choice(("", "okta")),
    }


def _tls(rng: random.Random) -> Manifest:
    def listener() -> Manifest:
        names = ("mine", "", "inst-auth-signing", "e-g1-engine-tls", "\u00e9")
        references = {name: {"name": rng.choice(names)} for name in ("secretRef", "clientCASecretRef", "crlSecretRef")}
        chosen = {name: value for name, value in references.items() if rng.random() < 0.3}
        issued = {
            "issuerRef": {"name": "ca"},
            "size": rng.choice((0, 256, 111)),
            "duration": rng.choice(("90d", "2160h")),
        }
        return {"enabled": rng.random() < 0.6, **chosen, **({"certManager": issued} if rng.random() < 0.7 else {})}

    return _some(rng, {"engine": listener(), "gateway": listener()})


def make_instance(rng: random.Random) -> bytes:
    words = ("meta", "a<b>&", "\x01", "\u00e9", "x" * 60, 'q"\\', "\U0001f525")
    postgres = {
        "host": rng.choice(("db.example", "[::1]")),
        "database": "meta",
        "credentialsSecretRef": {"name": rng.choice(("db", ""))},
    }
    gateway = {
        "template": template(rng),
        "holdTimeout": rng.choice(("120s", "1s", "31m", "soon", "")),
        "drainTimeout": rng.choice(("15s", "24h", "-1s", "1.5m")),
        "metricsPort": rng.choice((9090, 1, 65535, 10000, 9901)),
    }
    metadata = {"template": template(rng), "configFormat": rng.choice(("XML", "YAML")), "postgres": postgres}
    spec = {
        "id": rng.choice(words),
        "metadataNG": rng.choice((True, False)),
        "gateway": {name: value for name, value in gateway.items() if rng.random() < 0.5},
        "metadata": {name: value for name, value in metadata.items() if rng.random() < 0.5},
    }
    spec |= {name: value for name, value in (("auth", _auth(rng)), ("tls", _tls(rng))) if rng.random() < 0.3}
    odd = {rng.choice(("gateway", "metadata", "id", "auth", "tls")): odd_value(rng)} if rng.random() < 0.05 else {}
    return json.dumps({"metadata": METADATA, "spec": spec | odd}).encode()


def _render_instance(given: bytes) -> str | None:
    instance = parse_instance(given)
    errors = check_instance(instance)
    aggregate(errors)
    if rejected_component(instance, "apps/operator") is not None or config_problem(instance) is not None:
        return None
    blueprint = InstanceRenderer(instance, INSTANCE_IMAGES)
    pieces = (*blueprint.guard(), *blueprint.postgres(), *blueprint.metadata_service(), *blueprint.gateway())
    return str(sum(len(json.dumps(piece.manifest)) for piece in pieces))


def _grown_engine(spec: Manifest) -> tuple[bytes, bytes]:
    engine = {"metadata": METADATA, "spec": {"instanceRef": "main", **spec}}
    return json.dumps(engine).encode(), json.dumps({"metadata": METADATA, "spec": {"template": {}}}).encode()


def _many(size: int, each: Manifest) -> list[Manifest]:
    return [
        each | {"name": f"{each.get('name', 'n')}{number}"} for number in range(size // (len(json.dumps(each)) + 8))
    ]


def _in_pod(**pod: Any) -> tuple[bytes, bytes]:
    return _grown_engine({"template": {"spec": pod}})


ENGINE_SHAPES: Final[list[Shape[Any]]] = [
    lambda size: _in_pod(volumes=_many(size, {"name": "v", "emptyDir": {}})),
    lambda size: _in_pod(initContainers=_many(size, {"name": "c", "image": "x"})),
    lambda size: _in_pod(containers=[{"name": "engine", "env": _many(size, {"name": "E", "value": "x"})}]),
    lambda size: _in_pod(containers=_many(size, {"name": "auth-signing"})),
    lambda size: _in_pod(nodeSelector={f"k{number}": "v" for number in range(size // 12)}),
    lambda size: _in_pod(containers=[{"name": "engine", "image": "a-" * (size // 2)}]),
    lambda size: _grown_engine({"customEngineConfig": {f"k{number}": [1] for number in range(size // 12)}}),
    lambda size: _grown_engine({"customEngineConfig": {"x": "y" * size}}),
    lambda size: _grown_engine(
        {"customEngineConfig": indented_at_length(levels=min(size // 512, 400), zeros=size // 3)}
    ),
    lambda size: _grown_engine({"drainTimeout": "9" * size}),
    lambda size: _grown_engine({"template": {"metadata": {f"k{number}": 1 for number in range(size // 9)}}}),
]


def _grown_instance(**spec: Any) -> bytes:
    return json.dumps({"metadata": METADATA, "spec": {"metadata": {}, "gateway": {}, **spec}}).encode()


def _grown_component(component: str, shape: Shape[Any]) -> Shape[bytes]:
    return lambda size: _grown_instance(
        **{component: {"template": json.loads(shape(size)[0])["spec"].get("template", {})}}
    )


def _grown_providers(size: int) -> bytes:
    each = {"discoveryURL": "https://x", "usernameMapping": "{{ iss }}"}
    password = {"password": {"name": "x", "key": "y"}}
    return _grown_instance(
        auth={"enabled": True, "local": {"admin": password}, "oidc": {"providers": _many(size, each)}}
    )


INSTANCE_SHAPES: Final[list[Shape[Any]]] = [
    lambda size: _grown_instance(id="x" * size, gateway={"holdTimeout": "9" * size}),
    lambda size: _grown_instance(id="\x01" * size),
    _grown_providers,
    *(_grown_component("gateway", shape) for shape in ENGINE_SHAPES[:6]),
    *(_grown_component("metadata", shape) for shape in (*ENGINE_SHAPES[:6], ENGINE_SHAPES[-1])),
]
TARGETS: Final = (
    Target(
        name="engines, rendered",
        make=make_engine,
        read=_render_engine,
        findings=[
            _in_pod(volumes=[{"name": True}]),
            _in_pod(volumes=[{"name": {}}]),
            _in_pod(containers=[{"name": "engine", "volumeMounts": [{"name": None}]}]),
            _in_pod(containers=[{"name": "engine", "volumeMounts": 5}]),
            _in_pod(containers=[{"name": "engine", "env": 5}]),
            _in_pod(containers=[{"name": "engine", "image": 5}]),
        ],
        refusals=(SpecRejectedError,),
        is_accepted=is_known,
        shapes=ENGINE_SHAPES,
    ),
    Target(
        name="instances, rendered",
        make=make_instance,
        read=_render_instance,
        refusals=(SpecRejectedError,),
        is_accepted=is_known,
        shapes=INSTANCE_SHAPES,
    ),
)
