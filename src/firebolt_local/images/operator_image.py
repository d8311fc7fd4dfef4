"""The image of the operator, which is also that of the wake agent. The Dockerfile builds its twin."""

from typing import Final

from firebolt_local.images.accounts import add_accounts
from firebolt_local.images.archive import Image
from firebolt_local.images.labels import ours
from firebolt_local.images.layers import PROGRAM_MODE, LayerStore, LayerWriter
from firebolt_local.images.python_packages import locked, packages_layer, source_layer
from firebolt_local.images.python_root import PACKAGES, python_layers
from firebolt_operator.version import SOURCE_TREE

REPOSITORY: Final = "ghcr.io/firebolt-db/firebolt-operator"
REFERENCE: Final = f"{REPOSITORY}:v{SOURCE_TREE}"
USER: Final = 65532
ENTRYPOINT: Final = "/manager"  # gateways render only arguments: the image has to know its program
REQUIREMENTS: Final = "run.txt"
# Isolated from the environment, and without byte code of its own: the disk is read-only.
_START: Final = """#!/usr/bin/python3 -IBu
from firebolt_operator.main import main

main()
"""
_ABOUT: Final = f"Metadata-Version: 2.1\nName: firebolt-operator\nVersion: {SOURCE_TREE}\n"


def operator_image(store: LayerStore) -> Image:
    python = python_layers(store)
    layers = [
        *python,
        packages_layer(store, python, locked(REQUIREMENTS)),
        source_layer(store, python, ["firebolt_operator/**/*"], name="operator"),
        store.layer(("operator start", _START, _ABOUT), _fill),
    ]
    return Image(
        reference=REFERENCE,
        layers=layers,
        entrypoint=[ENTRYPOINT],
        user=f"{USER}:{USER}",
        labels=ours("firebolt-operator", SOURCE_TREE),
    )


def _fill(layer: LayerWriter) -> None:
    add_accounts(layer, {"nonroot": USER})
    layer.file(ENTRYPOINT, _START.encode(), mode=PROGRAM_MODE)
    layer.link("usr/bin/firebolt-operator", ENTRYPOINT)
    layer.file(f"{PACKAGES}/firebolt_operator-{SOURCE_TREE}.dist-info/METADATA", _ABOUT.encode())
