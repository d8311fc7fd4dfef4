"""Writes the CustomResourceDefinitions into config/crd and the chart, as `firebolt-operator crds` prints them."""

from pathlib import Path

from firebolt_operator.api.crds import crd_files

REPOSITORY = Path(__file__).parents[1]
TARGETS = (REPOSITORY / "config/crd", REPOSITORY / "charts/firebolt-operator/crds")


def main() -> None:
    for target in TARGETS:
        target.mkdir(parents=True, exist_ok=True)
        for name, text in crd_files().items():
            (target / name).write_text(text)


if __name__ == "__main__":
    main()
