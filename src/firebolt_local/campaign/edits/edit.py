"""What is one edit, and what does a spec look like after it? A line says it: `FireboltEngine spec.replicas extreme`."""

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from firebolt_local.campaign.edits.fields import ITEM, Field, fields
from firebolt_local.campaign.edits.values import Sort, legal, value
from firebolt_local.errors import LocalError
from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.refs import Manifest

_SPEC: Final = "spec"
_MAIN_CONTAINERS: Final[Mapping[tuple[str, ...], str]] = {
    ("gateway", "template"): "envoy",
    ("metadata", "template"): "metadata",
}
_ENGINE: Final = "engine"


@dataclass(frozen=True, slots=True)
class Edit:
    kind: str
    field: Field
    sort: Sort

    def __str__(self) -> str:
        return f"{self.kind} {_SPEC}.{self.field} {self.sort}"

    def applied(self, spec: Manifest) -> Manifest:
        changed = copy.deepcopy(spec)
        _set(changed, self)
        return changed


def schemas() -> dict[str, Manifest]:
    """Of the spec of each kind, as the API server has it. What belongs to the whole cluster would be edited under the
    feet of every operator beside this one; its template is that of a class.
    """
    return {
        each["spec"]["names"]["kind"]: each["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"][_SPEC]
        for each in crd_manifests()
        if each["spec"]["scope"] == "Namespaced"
    }


def parse_edit(line: str) -> Edit:
    kind, _, rest = line.strip().partition(" ")
    path, _, sort = rest.rpartition(" ")
    schema = schemas().get(kind, {})
    found = next((each for each in fields(schema) if f"{_SPEC}.{each}" == path), None)
    if found is None or sort not in set(Sort):
        raise LocalError(f"{line!r} is no edit; write for example 'FireboltEngine spec.replicas extreme'")
    return Edit(kind, found, Sort(sort))


def _set(spec: Manifest, edit: Edit) -> None:
    node: Any = spec
    steps = list(zip(edit.field.path, edit.field.schemas, strict=True))
    for position, (step, schema) in enumerate(steps[:-1]):
        following = edit.field.path[position + 1]
        node = _entered(node, step, schema, edit.field.path[:position], following)
    last, schema = steps[-1]
    if last == ITEM:
        node[0] = value("", schema, edit.sort)
    elif edit.sort is Sort.REMOVED:
        node.pop(last, None)
    else:
        node[last] = value(last, schema, edit.sort)


def _entered(node: Any, step: str, schema: Manifest, above: tuple[str, ...], following: str) -> Any:
    """One step further in; what is not there yet is made, as small as it can be."""
    if step == ITEM:
        return node[0]
    if not node.get(step):
        node[step] = [_an_item(step, schema, above)] if following == ITEM else legal(step, schema)
    return node[step]


def _an_item(step: str, schema: Manifest, above: tuple[str, ...]) -> Any:
    item = legal(step, schema["items"])
    if step == "containers" and isinstance(item, dict):
        # The one that is there anyway: a second container is another matter.
        item["name"] = _MAIN_CONTAINERS.get(above[:2], _ENGINE)
    return item
