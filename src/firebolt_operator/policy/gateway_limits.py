"""May the account of a gateway change an engine like this? It may stamp the annotation that wakes, and nothing else.

The cluster's own policy says so too, where it is installed; a gateway faces clients, and one lock may be missing.
"""

import re
from typing import Final

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, gateway_name
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.policy.field_errors import FieldError, Path, forbidden, invalid
from firebolt_operator.refs import Manifest

METADATA: Final = Path("metadata")
ANNOTATIONS: Final = METADATA.child("annotations")
SET_BY_SERVER: Final = frozenset({"annotations", "managedFields", "resourceVersion", "generation"})
STAMP: Final = re.compile(
    r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z"
)


def is_gateway_account(username: str, namespace: str, instance: str, custom_accounts: frozenset[str]) -> bool:
    """Whole names only, and those of the engine's own namespace: nobody else is limited, whatever they are called."""
    prefix = f"system:serviceaccount:{namespace}:"
    return username.startswith(prefix) and username.removeprefix(prefix) in {gateway_name(instance), *custom_accounts}


def check_gateway_write(old: Manifest | None, new: Manifest | None) -> list[FieldError]:
    if old is None or new is None:
        return [forbidden(METADATA.child("name"), "a gateway may neither create nor delete engines")]
    found: list[FieldError] = []
    if new.get("spec") != old.get("spec"):
        found.append(forbidden(Path("spec"), "a gateway may not change an engine's spec"))
    before, after = mapping(old.get("metadata")), mapping(new.get("metadata"))
    changed = [field for field in sorted(before.keys() | after.keys()) if before.get(field) != after.get(field)]
    found += [
        forbidden(METADATA.child(field), f"a gateway may not change an engine's {field}")
        for field in changed
        if field not in SET_BY_SERVER
    ]
    return found + _annotation_errors(mapping(before.get("annotations")), mapping(after.get("annotations")))


def _annotation_errors(before: Manifest, after: Manifest) -> list[FieldError]:
    changed = [key for key in sorted(before.keys() | after.keys()) if before.get(key) != after.get(key)]
    detail = f"a gateway may change no annotation but {ANNOTATION_WAKE_REQUESTED}"
    found = [forbidden(ANNOTATIONS.at(key), detail) for key in changed if key != ANNOTATION_WAKE_REQUESTED]
    stamp = after.get(ANNOTATION_WAKE_REQUESTED)
    if ANNOTATION_WAKE_REQUESTED in changed and stamp is not None and STAMP.fullmatch(str(stamp)) is None:
        words = "must be an RFC 3339 time in UTC with whole seconds, like 2026-01-31T12:00:00Z"
        found.append(invalid(ANNOTATIONS.at(ANNOTATION_WAKE_REQUESTED), str(stamp)[:64], words))
    return found
