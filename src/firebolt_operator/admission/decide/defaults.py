"""What is filled in when an object is made? Only what a schema cannot say; the controllers do the same later."""

from typing import Any

from firebolt_operator.admission.decide.answers import PASSED, Allowed
from firebolt_operator.refs import Manifest


def instance_defaults(instance: Manifest, new_id: str) -> Allowed:
    """Nothing is judged here: what is malformed is refused by those who come after."""
    spec = instance.get("spec")
    if not isinstance(spec, dict) or spec.get("id") not in (None, ""):
        return PASSED
    return Allowed(patch=({"op": "add", "path": "/spec/id", "value": new_id},))


def guarded_defaults(guarded: Manifest, finalizer: str) -> Allowed:
    """With its finalizer from the start, it is never gone before somebody has looked for its engines."""
    metadata = guarded.get("metadata")
    if not isinstance(metadata, dict):
        return PASSED
    finalizers: Any = metadata.get("finalizers")
    if not finalizers:
        return Allowed(patch=({"op": "add", "path": "/metadata/finalizers", "value": [finalizer]},))
    if not isinstance(finalizers, list) or finalizer in finalizers:
        return PASSED
    return Allowed(patch=({"op": "add", "path": "/metadata/finalizers/-", "value": finalizer},))
