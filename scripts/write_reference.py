"""Writes docs/reference: one page per kind, with every field, from the definitions that the API server gets."""

from collections.abc import Iterator
from pathlib import Path

from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.refs import Manifest

TARGET = Path(__file__).parents[1] / "docs/reference"

_HEAD = "| Field | Type | Default | Meaning |\n|---|---|---|---|\n"
_ROW = "| `{path}` | {type} | {default} | {meaning} |\n"
_NOTE = """This page is made from the definition itself; `kubectl explain {singular}` shows the same words.
A field without a default may be left out, unless it says *required*: then it must be there whenever its parent is.
"""


def reference_pages() -> dict[str, str]:
    """The text of each page under the name of its file."""
    return {f"{manifest['spec']['names']['singular']}.md": _page(manifest) for manifest in crd_manifests()}


def _page(manifest: Manifest) -> str:
    names = manifest["spec"]["names"]
    version = manifest["spec"]["versions"][0]
    schema = version["schema"]["openAPIV3Schema"]
    parts = [
        f"# {names['kind']}\n\n{schema['description']}\n",
        f"`apiVersion: {manifest['spec']['group']}/{version['name']}`, short name `{names['shortNames'][0]}`.\n",
        _NOTE.format(singular=names["singular"]),
    ]
    shown = [part for part in ("spec", "status") if part in schema["properties"]]
    tables = [f"## {part}\n\n{_HEAD}{''.join(_rows(schema['properties'][part], part))}" for part in shown]
    whole = [("metadata.name", each["message"]) for each in schema.get("x-kubernetes-validations", [])]
    rules = [f"- `{path}`: {message}.\n" for path, message in (*whole, *_rules(schema["properties"]["spec"], "spec"))]
    return "\n".join([*parts, *tables, *([f"## Rules\n\n{''.join(rules)}"] if rules else [])])


def _rows(node: Manifest, path: str) -> Iterator[str]:
    for name, child in node.get("properties", {}).items():
        where = f"{path}.{name}"
        yield _ROW.format(
            path=where,
            type=_type(child),
            default=_default(child, is_required=name in node.get("required", [])),
            meaning=child.get("description", "").replace("|", "\\|"),
        )
        if not _is_template(child):
            yield from _rows(child.get("items", child), where + ("[]" if "items" in child else ""))


def _rules(node: Manifest, path: str) -> Iterator[tuple[str, str]]:
    for rule in node.get("x-kubernetes-validations", []):
        yield path, rule["message"]
    for name, child in node.get("properties", {}).items():
        yield from _rules(child.get("items", child), f"{path}.{name}")


def _type(node: Manifest) -> str:
    if _is_template(node):
        return "pod template"
    if node.get("x-kubernetes-int-or-string"):
        return "quantity"
    if "items" in node:
        return f"list of {_type(node['items'])}"
    if "enum" in node:
        return ", ".join(f"`{value}`" if value else "empty" for value in node["enum"])
    return "time" if node.get("format") == "date-time" else str(node["type"])


def _default(node: Manifest, *, is_required: bool) -> str:
    if "default" not in node:
        return "*required*" if is_required else ""
    default = node["default"]
    match default:
        case bool():
            return f"`{str(default).lower()}`"
        case "":
            return "empty"
        case list():
            return f"`[{', '.join(default)}]`"
        case _:
            return f"`{default}`"


def _is_template(node: Manifest) -> bool:
    return bool(node.get("properties") == pod_template_schema()["properties"])


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in reference_pages().items():
        (TARGET / name).write_text(text)


if __name__ == "__main__":
    main()
