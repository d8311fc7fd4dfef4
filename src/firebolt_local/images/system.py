"""Which images does a cluster itself need, before anything is installed on it?"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from firebolt_local.images.archive import Image, write_archive
from firebolt_local.images.debian import Packages
from firebolt_local.images.layers import Layer, LayerStore, LayerWriter, file_digest
from firebolt_local.images.stores import default_store

PAUSE: Final = "localhost/pause:1"
COREDNS: Final = "localhost/coredns:1"
PROVISIONER: Final = "localhost/local-path-provisioner:1"
HELPER: Final = "localhost/helper:1"
_NOBODY: Final = "65535:65535"
_BUSYBOX: Final = Packages(names=("busybox-static",))
_COMMANDS: Final = ("sh", "cat", "chmod", "ls", "mkdir", "rm", "sleep", "stat", "touch", "wget")


def build_system_images(into: Path, programs: Mapping[str, Path], *, store: LayerStore | None = None) -> list[Path]:
    """One archive per image. `programs` are those of `programs.IN_IMAGES`."""
    store = store or default_store()
    makers: dict[str, Callable[[], Image]] = {
        "pause": lambda: _program_image(store, PAUSE, programs["pause"], user=_NOBODY),
        "coredns": lambda: _program_image(store, COREDNS, programs["coredns"]),
        "local-path-provisioner": lambda: _program_image(store, PROVISIONER, programs["local-path-provisioner"]),
        "helper": lambda: _helper_image(store),
    }
    return [write_archive(into / f"{name}.tar", [make()]) for name, make in makers.items()]


def _program_image(store: LayerStore, reference: str, program: Path, *, user: str = "") -> Image:
    """A program that needs nothing else; its folders are there for whatever gets mounted over them."""

    def fill(layer: LayerWriter) -> None:
        layer.folder("tmp", mode=0o1777)
        layer.copy(program.name, program)

    layer = store.layer(("one program", program.name, file_digest(program)), fill)
    return Image(reference=reference, layers=[layer], entrypoint=[f"/{program.name}"], user=user)


def _helper_image(store: LayerStore) -> Image:
    """A shell and the commands that make and remove a volume's folder."""
    return Image(
        reference=HELPER,
        layers=[_busybox(store)],
        command=["sh"],
        environment={"PATH": "/bin"},
    )


def _busybox(store: LayerStore) -> Layer:
    def fill(layer: LayerWriter) -> None:
        layer.folder("tmp", mode=0o1777)
        layer.link("bin", "usr/bin")
        _BUSYBOX.unpack(layer)
        for command in _COMMANDS:
            layer.link(f"usr/bin/{command}", "busybox")

    return store.layer((*_BUSYBOX.key(), *_COMMANDS), fill)
