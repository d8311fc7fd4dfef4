"""Writes the CustomResourceDefinitions into config/crd; the text is what `firebolt-operator crds` prints."""

from pathlib import Path

from firebolt_operator.api.crds import crd_files

TARGET = Path(__file__).parents[1] / "config/crd"


def main() -> None:
    TARGET.mkdir(parents=True, exist_ok=True)
    for name, text in crd_files().items():
        (TARGET / name).write_text(text)


if __name__ == "__main__":
    main()
