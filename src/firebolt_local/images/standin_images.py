"""The images of the stand-ins, under the names that the operator renders by default.

A second tag of the engine differs only in its name and version: something to change an engine's image to. Two more of
engine and metadata play a release from before ids in lower case, and one from after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from firebolt_local.images.accounts import add_accounts
from firebolt_local.images.archive import Image
from firebolt_local.images.debian_layers import shell_layer
from firebolt_local.images.labels import stand_in
from firebolt_local.images.layers import PROGRAM_MODE, Layer, LayerStore, LayerWriter
from firebolt_local.images.operator_image import REQUIREMENTS
from firebolt_local.images.python_packages import beyond, locked, packages_layer, source_layer
from firebolt_local.images.python_root import python_layers
from firebolt_local.standins.releases import VARIABLE, Release
from firebolt_operator.engine.render.template import ENGINE_USER
from firebolt_operator.flags import parse_flags
from firebolt_operator.instance.render.metadata_service import UID as METADATA_USER
from firebolt_operator.settings import FLAGS

_DEFAULTS: Final = parse_flags((), FLAGS, {})
ENGINE: Final = _DEFAULTS["engine-image"]
ENGINE_NEXT: Final = f"{ENGINE}.next"
METADATA: Final = _DEFAULTS["metadata-image"]
OLD_TAG: Final = "release-5.0.0-pre.0.20260815074041.524de236b514"
NEW_TAG: Final = "release-5.0.0-pre.0.20260907054900.7676b5def2cd"
UI: Final = _DEFAULTS["ui-image"]


@dataclass(frozen=True, slots=True)
class Program:
    """A stand-in, and where the real image has its program."""

    name: str
    path: str
    user: int


ENGINE_PROGRAM: Final = Program("engine", "/opt/firebolt/firebolt", ENGINE_USER)
METADATA_PROGRAM: Final = Program("metadata", "/dedicated-pensieve", METADATA_USER)
UI_PROGRAM: Final = Program("ui", "/opt/firebolt/ui", ENGINE_USER)


def engine_images(store: LayerStore) -> list[Image]:
    layers = _layers(store, ENGINE_PROGRAM)
    same = [standin_image(ENGINE_PROGRAM, reference, layers) for reference in (ENGINE, ENGINE_NEXT)]
    return [*same, *releases(ENGINE_PROGRAM, ENGINE, layers)]


def metadata_images(store: LayerStore) -> list[Image]:
    layers = _layers(store, METADATA_PROGRAM)
    return [standin_image(METADATA_PROGRAM, METADATA, layers), *releases(METADATA_PROGRAM, METADATA, layers)]


def ui_images(store: LayerStore) -> list[Image]:
    return [standin_image(UI_PROGRAM, UI, _layers(store, UI_PROGRAM))]


def of_release(reference: str, tag: str) -> str:
    return f"{reference.rpartition(':')[0]}:{tag}"


def releases(program: Program, reference: str, layers: Sequence[Layer]) -> list[Image]:
    tags = {OLD_TAG: Release.OLD, NEW_TAG: Release.NEW}
    return [
        replace(standin_image(program, of_release(reference, tag), layers), environment={VARIABLE: release.value})
        for tag, release in tags.items()
    ]


def standin_image(program: Program, reference: str, layers: Sequence[Layer]) -> Image:
    version = reference.rpartition(":")[2]
    return Image(
        reference=reference,
        layers=layers,
        entrypoint=[program.path],
        user=f"{program.user}:{program.user}",
        labels=stand_in(f"stand-in {program.name}", version),
    )


def _layers(store: LayerStore, program: Program) -> list[Layer]:
    python, run, standins = python_layers(store), locked(REQUIREMENTS), locked("standins.txt")
    return [
        *python,
        shell_layer(store),
        packages_layer(store, python, run),
        packages_layer(store, python, beyond(standins, run)),
        source_layer(store, python, "firebolt_local", ["__init__.py", "standins/**/*"]),
        _start_layer(store, program),
    ]


def _start_layer(store: LayerStore, program: Program) -> Layer:
    script = (
        "#!/usr/bin/python3 -IBu\n"
        "import sys\n"
        "\n"
        f"from firebolt_local.standins.{program.name}.main import main\n"
        "\n"
        "sys.exit(main())\n"
    )

    def fill(layer: LayerWriter) -> None:
        add_accounts(layer, {"firebolt": program.user})
        layer.file(program.path, script.encode(), mode=PROGRAM_MODE)
        # The runtime makes no mount points on a read-only disk.
        for folder in ("var/lib/firebolt", "run/firebolt", "configs", "secrets"):
            layer.folder(folder, owner=program.user)

    return store.layer(("stand-in start", script, str(program.user)), fill)
