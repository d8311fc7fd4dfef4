"""Was something made more often than it had to be, or was there a moment at which queries found nobody?"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Final

from firebolt_local.testing.inventory import described
from firebolt_local.testing.ledger import Change
from firebolt_local.testing.serving import gaps
from firebolt_operator.refs import Manifest

_COSTLY: Final = frozenset({"Pod", "StatefulSet", "Deployment", "Secret", "PersistentVolumeClaim", "Service"})
"""To make one of these a second time costs queries, data or a connection."""
_MOST_GAPS: Final = 3
_NEXT_KEY: Final = "cert-manager.io/next-private-key"


def made(changes: Iterable[Change]) -> Counter[str]:
    """How many there were of each, one after the other or at the same time."""
    uids: dict[str, set[str]] = defaultdict(set)
    for change in changes:
        if change.after is not None and change.kind in _COSTLY and not _is_passing(change.after):
            uids[described(change.after)].add(change.after["metadata"]["uid"])
    return Counter({name: len(found) for name, found in uids.items()})


def _is_passing(manifest: Manifest) -> bool:
    """What cert-manager keeps a key in until the certificate for it is issued, under a name made up each time."""
    return _NEXT_KEY in manifest["metadata"].get("labels", {})


def made_too_often(changes: Iterable[Change], wanted: Counter[str]) -> list[str]:
    return [f"{name} was made {count} time(s) too often" for name, count in sorted((made(changes) - wanted).items())]


def unserved(changes: Iterable[Change], engine: str) -> list[str]:
    found = gaps(changes, engine)
    return [f"queries found nobody at {each}" for each in found[:_MOST_GAPS]]
