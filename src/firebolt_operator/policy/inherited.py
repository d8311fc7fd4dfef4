"""What the checks of an engine look at in its class."""

from dataclasses import dataclass

from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTemplate:
    name: str
    template: Manifest | None
