"""What the checks of an engine look at in its class."""

from dataclasses import dataclass

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassTemplate:
    name: str
    template: Manifest | None


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClass:
    """The class that an engine names, as the server has it now."""

    name: str
    spec: EngineClassSpec
    is_deleting: bool = False

    @property
    def template(self) -> ClassTemplate:
        return ClassTemplate(name=self.name, template=self.spec.template)
