"""Which objects of a resource does a cache hold? Namespaces times one label selector, or one name."""

from dataclasses import dataclass, field

from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Resource
from firebolt_operator.runtime.objects import Header
from firebolt_operator.runtime.selectors import Selector, parse_selector


@dataclass(frozen=True, slots=True)
class Coverage:
    """Lists and watches ask the server for exactly this; an own write outside of it is none of the cache's business."""

    namespaces: tuple[str, ...] = ()  # empty means all of them
    labels: str = ""
    name: str = ""  # empty means any
    _selector: Selector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_selector", parse_selector(self.labels))

    @property
    def parts(self) -> tuple[str, ...]:
        """One per list and watch: a namespace, or the empty string for all of them."""
        return self.namespaces or ("",)

    def part_of(self, namespace: str) -> str | None:
        """Which list and watch tells about that namespace; None means no one does."""
        if not self.namespaces:
            return ""
        return namespace if namespace in self.namespaces else None

    def scope(self, resource: Resource, part: str) -> Scope:
        fields = f"metadata.name={self.name}" if self.name else ""
        return Scope(resource=resource, namespace=part, labels=self.labels, fields=fields)

    def has(self, header: Header) -> bool:
        metadata = header.metadata
        if self.part_of(metadata.namespace) is None or (self.name and metadata.name != self.name):
            return False
        return self._selector.matches(metadata.labels or {})


EVERYWHERE = Coverage()
