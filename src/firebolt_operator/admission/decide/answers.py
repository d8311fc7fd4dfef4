"""Is a write let through, with which changes and warnings? And how is that said to the API server?"""

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firebolt_operator.policy.field_errors import FieldError, aggregate
from firebolt_operator.refs import Manifest

REVIEW_VERSION: Final = "admission.k8s.io/v1"
REASONS: Final = {400: "BadRequest", 403: "Forbidden", 413: "RequestEntityTooLarge", 500: "InternalError"}
MOST_WARNINGS: Final = 20
LONGEST_WARNING: Final = 240
"""The API server cuts a warning after 256 characters, and shows none of them if there are too many in all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowed:
    warnings: tuple[str, ...] = ()
    patch: tuple[Manifest, ...] = ()  # JSONPatch operations


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    message: str
    code: int = 403
    warnings: tuple[str, ...] = ()


Answer = Allowed | Denied
PASSED: Final = Allowed()


def judged(errors: Sequence[FieldError], warnings: Sequence[str] = ()) -> Answer:
    if errors:
        return Denied(message=aggregate(errors), warnings=tuple(warnings))
    return Allowed(warnings=tuple(warnings))


def review_response(uid: str, answer: Answer) -> Manifest:
    """The AdmissionReview that goes back."""
    response: Manifest = {"uid": uid, "allowed": isinstance(answer, Allowed)}
    if answer.warnings:
        response["warnings"] = [_cut(each) for each in answer.warnings[:MOST_WARNINGS]]
    match answer:
        case Denied(message=message, code=code):
            status = {"code": code, "reason": REASONS[code], "message": message, "status": "Failure"}
            response["status"] = {"metadata": {}, **status}
        case Allowed(patch=patch):
            response["status"] = {"metadata": {}, "code": 200}
            if patch:
                response["patchType"] = "JSONPatch"
                response["patch"] = base64.b64encode(json.dumps(patch).encode()).decode()
    return {"apiVersion": REVIEW_VERSION, "kind": "AdmissionReview", "response": response}


def _cut(warning: str) -> str:
    return warning if len(warning) <= LONGEST_WARNING else f"{warning[:LONGEST_WARNING]}..."
