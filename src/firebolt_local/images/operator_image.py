"""The image of the operator, which is also that of the wake agent. The Dockerfile builds its twin."""

from typing import Final

from firebolt_local.images.accounts import add_accounts
from firebolt_local.images.archive import Image
from firebolt_local.images.labels import ours
from firebolt_local.images.layers import PROGRAM_MODE, LayerStore, LayerWriter
from firebolt_local.images.platforms import Platform, native
from firebolt_local.images.python_packages import locked, packages_layer, source_layer
from firebolt_local.images.python_root import python_layers
from firebolt_local.packaged import packaged
from firebolt_operator.version import SOURCE_TREE

REPOSITORY: Final = "localhost/firebolt-operator"  # in no registry: whoever wants it in theirs gives it their name
REFERENCE: Final = f"{REPOSITORY}:v{SOURCE_TREE}"
USER: Final = 65532
ENTRYPOINT: Final = "/manager"  # gateways render only arguments: the image has to know its program
REQUIREMENTS: Final = "run.txt"
START: Final = packaged("firebolt_operator", "manager")


def operator_image(store: LayerStore, on: Platform | None = None, reference: str = REFERENCE) -> Image:
    running, python, start = python_layers(store), python_layers(store, on), START.read_bytes()

    def fill(layer: LayerWriter) -> None:
        add_accounts(layer, {"nonroot": USER})
        layer.file(ENTRYPOINT, start, mode=PROGRAM_MODE)
        layer.link("usr/bin/firebolt-operator", ENTRYPOINT)

    layers = [
        *python,
        packages_layer(store, running, locked(REQUIREMENTS), on),
        source_layer(store, running, "firebolt_operator", ["**/*"]),
        store.layer(("operator start", start.decode()), fill),
    ]
    return Image(
        reference=reference,
        architecture=(on or native()).architecture,
        layers=layers,
        entrypoint=[ENTRYPOINT],
        user=f"{USER}:{USER}",
        labels=ours("firebolt-operator", SOURCE_TREE),
    )
