"""What was looked at to explain something."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from kubectl_firebolt.manifest import Manifest, is_deleting, labels_of, name_of, spec_of, status_of
from kubectl_firebolt.names import LABEL_ENGINE, LABEL_GENERATION


class Kind(StrEnum):
    """As people type them."""

    ENGINE = "engine"
    INSTANCE = "instance"
    ENGINE_CLASS = "class"
    ENGINE_PRESET = "preset"
    CLUSTER_ENGINE_CLASS = "clusterclass"

    @property
    def resource(self) -> str:
        return _RESOURCES[self]

    @property
    def is_shared(self) -> bool:
        """What engines share owns nothing, and stays while they use it."""
        return self not in {Kind.ENGINE, Kind.INSTANCE}


_RESOURCES: Final = {
    Kind.ENGINE: "fireboltengine",
    Kind.INSTANCE: "fireboltinstance",
    Kind.ENGINE_CLASS: "fireboltengineclass",
    Kind.ENGINE_PRESET: "fireboltenginepreset",
    Kind.CLUSTER_ENGINE_CLASS: "clusterfireboltengineclass",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorSeen:
    """The lease of an operator, whichever namespace it is in."""

    holder: str
    renewed_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    kind: Kind
    name: str
    now: datetime
    subject: Manifest | None  # None: it is not there any more, but something of it is
    children: Sequence[Manifest] = ()  # all that carries its label
    instance: Manifest | None = None  # of an engine
    instance_pods: Sequence[Manifest] = ()
    engine_class: Manifest | None = None  # of an engine
    engines: Sequence[Manifest] = ()  # those that use it, of what engines share
    warnings: Sequence[Manifest] = ()  # events of the namespace
    operators: Sequence[OperatorSeen] | None = None  # None: we may not look
    unseen: Sequence[str] = ()
    flags: Sequence[str] = ()  # of kubectl: which cluster that was

    @property
    def there(self) -> Manifest:
        if self.subject is None:
            raise RuntimeError(f"{self.kind} {self.name} is not there, and was asked for")
        return self.subject

    @property
    def namespace(self) -> str:
        known = [self.subject, *self.children]
        return next((str(each["metadata"].get("namespace", "")) for each in known if each), "")

    @property
    def spec(self) -> Manifest:
        return spec_of(self.there)

    @property
    def status(self) -> Manifest:
        return status_of(self.there)

    @property
    def pods(self) -> list[Manifest]:
        return sorted((each for each in self.children if each.get("kind") == "Pod"), key=name_of)

    def pods_of(self, generation: int) -> list[Manifest]:
        """Those that are not on their way out."""
        wanted = str(generation)
        return [pod for pod in self.pods if labels_of(pod).get(LABEL_GENERATION) == wanted and not is_deleting(pod)]

    @property
    def components(self) -> list[Manifest]:
        """Pods of the instance itself, not of its engines."""
        return [pod for pod in self.instance_pods if LABEL_ENGINE not in labels_of(pod)]

    def kubectl(self, *words: str) -> str:
        """A command for people, who may be in another namespace, or at another cluster by the time they paste it."""
        return " ".join(["kubectl", *self._where, *words])

    def plugin(self, *words: str) -> str:
        """The same for ours: kubectl takes no flags before the name of a plugin."""
        return " ".join(["kubectl", "firebolt", *words, *self._where])

    @property
    def _where(self) -> list[str]:
        return [*map(shlex.quote, self.flags), *(["-n", self.namespace] if self.namespace else [])]


def parse_time(text: object) -> datetime | None:
    """RFC 3339 as Kubernetes writes it; anything else is unknown."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found if found.tzinfo else None


def ago(then: datetime, now: datetime) -> str:
    """As people say it."""
    seconds = max(0, int((now - then).total_seconds()))
    for unit, length in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"
