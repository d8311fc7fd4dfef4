"""Writes the CustomResourceDefinitions into config/crd and the charts, and JSON Schemas of them into config/schemas."""

from collections.abc import Mapping
from pathlib import Path

from firebolt_operator.api.crds import crd_files
from firebolt_operator.api.json_schemas import json_schema_files

REPOSITORY = Path(__file__).parents[1]
KEPT = {"helm.sh/resource-policy": "keep"}
"""With a definition go all objects of its kind: Helm must not delete it with the release."""


def targets() -> Mapping[Path, Mapping[str, str]]:
    """The text of each file, by name, for each folder."""
    plain = crd_files()
    return {
        REPOSITORY / "config/crd": plain,
        REPOSITORY / "charts/firebolt-operator/crds": plain,
        REPOSITORY / "charts/firebolt-operator-crds/templates": crd_files(KEPT),
        REPOSITORY / "config/schemas": json_schema_files(),
    }


def main() -> None:
    for folder, files in targets().items():
        for name, text in files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)


if __name__ == "__main__":
    main()
