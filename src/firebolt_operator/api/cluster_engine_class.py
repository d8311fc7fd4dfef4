"""ClusterFireboltEngineClass: a size of nodes that engines of any namespace may name."""

from typing import Annotated

from firebolt_operator.api.model import Model, ObjectMeta, PodTemplate, note


class ClusterEngineClassSpec(Model, frozen=True, kw_only=True):
    template: Annotated[PodTemplate, note("Changes to the pods of every engine of this class.")]


class ClusterFireboltEngineClass(Model, frozen=True, kw_only=True):
    """A pod template that engines of any namespace inherit by naming it; a class of theirs of that name wins."""

    metadata: ObjectMeta
    spec: Annotated[ClusterEngineClassSpec | None, note("What engines of this class inherit.")] = None
