"""Admission reviews of our kinds, from the body of the request to the verdict; and controllers agree with it.

Whatever admission lets through, no controller refuses to render, and nobody is told to mend anything.
"""

import asyncio
import json
import random
from dataclasses import dataclass
from typing import Any, Final, cast

from firebolt_operator.admission.decide.answers import Allowed, Denied, review_response
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.lookups import Lookups
from firebolt_operator.admission.reading import UnreadableReviewError, read_review
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.api.serialise import parse_engine, parse_engine_class, parse_instance
from firebolt_operator.engine.decide.gates import judge_template
from firebolt_operator.engine.decide.spec_problems import spec_problems
from firebolt_operator.engine.inputs import ClassInfo, InstanceInfo
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.instance.render.metadata_config import config_problem
from firebolt_operator.policy.instance_checks import rejected_component
from firebolt_operator.refs import Ref
from tests.fuzz.mutation import mutated, octets
from tests.fuzz.target import Target, is_known
from tests.fuzz.targets import templates
from tests.support.deep import with_depth
from tests.support.growth import Shape

NO_INSTANCE: Final = InstanceInfo(id="", metadata_endpoint="")
OPERATOR: Final = "apps/operator"


@dataclass(frozen=True, slots=True)
class OneClass:
    """A server that knows one class, and nothing else."""

    body: bytes

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        return self.body if ref.resource == FIREBOLT_ENGINE_CLASSES else None


def _review(plural: str, body: bytes) -> bytes:
    request = {
        "uid": "asked",
        "operation": "CREATE",
        "resource": {"resource": plural},
        "namespace": "apps",
        "userInfo": {"username": "alice"},
    }
    head = json.dumps({"request": request}).encode()
    return head.removesuffix(b"}}") + b', "object": ' + body + b"}}"


def _bound(given: tuple[bytes, bytes]) -> tuple[bytes, bytes]:
    return given[0].replace(b'"instanceRef": "main"', b'"instanceRef": "main", "engineClassRef": "shared"'), given[1]


def _bound_shape(shape: Shape[Any]) -> Shape[Any]:
    return lambda size: _bound(shape(size))


def _engine(rng: random.Random) -> tuple[bytes, bytes]:
    return _bound(templates.make_engine(rng))


def _ask_engine(given: tuple[bytes, bytes]) -> str | None:
    request = read_review(_review("fireboltengines", given[0]))
    lookups = Lookups(cast("Any", OneClass(given[1])))
    answer = asyncio.run(EngineAdmission(lookups, templates.BOUNDS).validate(request))
    json.dumps(review_response(request.uid, answer))
    spec, inherited = parse_engine(given[0]).spec, parse_engine_class(given[1]).spec
    assert inherited is not None
    if isinstance(answer, Denied) or spec is None:
        return None
    known = ClassInfo(name="shared", spec=inherited) if spec.engine_class_ref else None
    refused = judge_template(spec, known, NO_INSTANCE, templates.BOUNDS).refused
    assert refused is None, refused
    own = spec_problems(spec, None, templates.BOUNDS)
    assert own is None, own
    return str(len(answer.warnings))


def _ask_instance(given: bytes) -> str | None:
    request = read_review(_review("fireboltinstances", given))
    admission = InstanceAdmission(OPERATOR, lambda: "id")
    answer = asyncio.run(admission.validate(request))
    assert isinstance(admission.default(request), Allowed)
    json.dumps(review_response(request.uid, answer))
    instance = parse_instance(given)
    if isinstance(answer, Denied):
        return None
    assert rejected_component(instance, OPERATOR) is None
    assert config_problem(instance) is None
    return str(len(answer.warnings))


def _body(rng: random.Random) -> bytes:
    """A review as it may come from anybody who reaches the port."""
    whole = _review("fireboltengines", _engine(rng)[0])
    if rng.random() < 0.1:
        return with_depth(json.loads(whole), "request", rng.choice(("object", "oldObject", "options", "x")))
    return octets(rng, mutated(rng, whole.decode(), ("{", "}", "[", "]", "null", '"uid"', ",", ":"), untouched=0.5))


def _read_body(given: bytes) -> str | None:
    return read_review(given).operation


REFUSALS: Final = (SpecRejectedError, UnreadableReviewError)
TARGETS: Final = (
    Target(
        name="reviews of engines",
        make=_engine,
        read=_ask_engine,
        refusals=REFUSALS,
        is_accepted=is_known,
        shapes=[_bound_shape(shape) for shape in templates.ENGINE_SHAPES],
    ),
    Target(
        name="reviews of instances",
        make=templates.make_instance,
        read=_ask_instance,
        refusals=REFUSALS,
        is_accepted=is_known,
        shapes=templates.INSTANCE_SHAPES,
    ),
    Target(
        name="bodies of reviews",
        make=_body,
        read=_read_body,
        refusals=REFUSALS,
        is_accepted=is_known,
        shapes=[lambda size: _review("fireboltengines", b"[" * size), lambda size: b'{"request":' * (size // 11)],
    ),
)
