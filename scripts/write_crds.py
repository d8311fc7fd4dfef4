"""Writes the CustomResourceDefinitions into config/crd and the charts, as `firebolt-operator crds` prints them."""

from collections.abc import Mapping
from pathlib import Path

from firebolt_operator.api.crds import crd_files

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
    }


def main() -> None:
    for folder, files in targets().items():
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)


if __name__ == "__main__":
    main()
