"""The image of the internal database: the real PostgreSQL, started the way the official image starts it."""

from pathlib import Path
from typing import Final

from firebolt_local.images.accounts import add_accounts
from firebolt_local.images.archive import Image
from firebolt_local.images.debian_layers import POSTGRES, layer_above_libc, libc_layer, shell_layer
from firebolt_local.images.labels import borrowed_name
from firebolt_local.images.layers import PROGRAM_MODE, Layer, LayerStore, LayerWriter
from firebolt_local.packaged import packaged
from firebolt_operator.flags import parse_flags
from firebolt_operator.instance.render.postgres import MOUNT, UID
from firebolt_operator.settings import FLAGS

REFERENCE: Final = parse_flags((), FLAGS, {})["postgres-image"]
_START: Final = packaged("firebolt_local.images", "postgres_entrypoint.sh")
_HOME: Final = "/var/lib/postgresql"


def postgres_image(store: LayerStore) -> Image:
    database = layer_above_libc(store, POSTGRES)
    programs = _programs(database)
    return Image(
        reference=REFERENCE,
        layers=[libc_layer(store), shell_layer(store), database, _start_layer(store)],
        entrypoint=["docker-entrypoint.sh"],
        command=["postgres"],
        environment={
            "PATH": f"/usr/local/bin:{programs}:/usr/bin:/usr/sbin",
            "PGDATA": MOUNT,
            "LANG": "C.UTF-8",
        },
        labels=borrowed_name("PostgreSQL", Path(programs).parent.name),
        stop_signal="SIGINT",  # end sessions, write everything out, end
    )


def _programs(database: Layer) -> str:
    """Debian keeps each major version in a folder of its own."""
    return next(f"/{name.removesuffix('/postgres')}" for name in database.names() if name.endswith("/bin/postgres"))


def _start_layer(store: LayerStore) -> Layer:
    start = _START.read_bytes()

    def fill(layer: LayerWriter) -> None:
        add_accounts(layer, {"postgres": UID}, home=_HOME)
        layer.folder("docker-entrypoint-initdb.d")
        layer.folder(_HOME, owner=UID)
        layer.folder(MOUNT, owner=UID, mode=0o1777)
        layer.folder("run/postgresql", owner=UID, mode=0o3777)
        layer.file("usr/local/bin/docker-entrypoint.sh", start, mode=PROGRAM_MODE)

    return store.layer(("postgres start", start.decode(), str(UID)), fill)
