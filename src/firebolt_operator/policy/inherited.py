"""What the checks of an engine look at besides its own spec: the templates that it inherits."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINE_PRESETS
from firebolt_operator.policy.field_errors import Path
from firebolt_operator.refs import Manifest

AnyClass = FireboltEngineClass | ClusterFireboltEngineClass
CLASS_REFERENCE: Final = Path("spec").child("engineClassRef")


@dataclass(frozen=True, slots=True, kw_only=True)
class InheritedTemplate:
    kind: str
    name: str
    template: Manifest | None
    path: Path  # where its errors are told
    config: Manifest | None = None
    word: str = "class"  # for people

    @property
    def origin(self) -> str:
        return f' (inherited from {self.kind} "{self.name}"; set spec.template on this engine to override)'


Inherited = Sequence[InheritedTemplate]
"""The highest first."""


def missing_class(namespace: str, name: str) -> str:
    return f"FireboltEngineClass {namespace}/{name} not found, ClusterFireboltEngineClass {name} not found"


def class_template(
    name: str,
    template: Manifest | None,
    config: Manifest | None = None,
    *,
    kind: str = FIREBOLT_ENGINE_CLASSES.kind,
) -> InheritedTemplate:
    path = CLASS_REFERENCE.child("template")
    return InheritedTemplate(kind=kind, name=name, template=template, config=config, path=path)


def preset_template(name: str, template: Manifest | None, config: Manifest | None = None) -> InheritedTemplate:
    kind = FIREBOLT_ENGINE_PRESETS.kind
    path = Path(f"{kind}[{name}].spec.template")
    return InheritedTemplate(kind=kind, name=name, template=template, config=config, path=path, word="preset")


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundClass:
    """The class that an engine names, as the server has it now."""

    name: str
    spec: EngineClassSpec
    is_deleting: bool = False
    kind: str = FIREBOLT_ENGINE_CLASSES.kind

    @property
    def template(self) -> InheritedTemplate:
        return class_template(self.name, self.spec.template, self.spec.custom_engine_config, kind=self.kind)
