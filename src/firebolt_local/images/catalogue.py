"""Which images does a demonstration need, and how are all of them built?"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_local.images.archive import Image, write_archive
from firebolt_local.images.envoy_image import envoy_image
from firebolt_local.images.layers import LayerStore
from firebolt_local.images.operator_image import operator_image
from firebolt_local.images.postgres_image import postgres_image
from firebolt_local.images.standin_images import engine_images, metadata_images, ui_images
from firebolt_local.images.stores import default_store
from firebolt_local.locks import exclusive

Say = Callable[[str, str], None]  # text, and what follows it


@dataclass(frozen=True, slots=True)
class Build:
    archive: str  # below the folder that archives go to
    images: Callable[[LayerStore], Sequence[Image]]


BUILDS: Final = (
    Build("operator.tar", lambda store: [operator_image(store)]),
    Build("postgres.tar", lambda store: [postgres_image(store)]),
    Build("envoy.tar", lambda store: [envoy_image(store)]),
    # A folder of their own: these are not what their names say.
    Build("standins/engine.tar", engine_images),
    Build("standins/metadata.tar", metadata_images),
    Build("standins/ui.tar", ui_images),
)


def build_all(into: Path, *, say: Say = lambda _text, _end: None, store: LayerStore | None = None) -> list[Path]:
    """Every image but those of the cluster itself; minutes the first time, then about a second."""
    return [build_one(build, into, say=say, store=store) for build in BUILDS]


def build_one(
    build: Build, into: Path, *, say: Say = lambda _text, _end: None, store: LayerStore | None = None
) -> Path:
    store = store or default_store()
    started_at = time.monotonic()
    say(f"{build.archive} ...", "")
    with exclusive(store.folder.with_name("layers.lock")):
        path = write_archive(into / build.archive, build.images(store))
    say(f" {time.monotonic() - started_at:.1f} s, {path.stat().st_size >> 20} MiB", "\n")
    return path
