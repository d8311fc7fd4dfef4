"""Which images does a demonstration need, and how are all of them built?"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

from firebolt_local.images.archive import Image, image_digest, write_archive, write_image
from firebolt_local.images.bill_of_materials import bill_of_materials
from firebolt_local.images.envoy_image import envoy_image
from firebolt_local.images.layers import LayerStore
from firebolt_local.images.operator_image import operator_image
from firebolt_local.images.platforms import PLATFORMS
from firebolt_local.images.postgres_image import postgres_image
from firebolt_local.images.standin_images import engine_images, metadata_images, ui_images
from firebolt_local.images.stores import default_store
from firebolt_local.locks import exclusive

_KEPT_FOR: Final = timedelta(days=1)
Say = Callable[[str, str], None]  # text, and what follows it


@dataclass(frozen=True, slots=True)
class Build:
    archive: str  # below the folder that archives go to
    images: Callable[[LayerStore], Sequence[Image]]


BUILDS: Final = (
    Build("operator.tar", lambda store: [operator_image(store)]),
    Build("postgres.tar", lambda store: [postgres_image(store)]),
    Build("envoy.tar", lambda store: [envoy_image(store)]),
    # In a folder of their own, because they are not what their names say; in one archive, because they share layers.
    Build("standins/images.tar", lambda store: [*engine_images(store), *metadata_images(store), *ui_images(store)]),
)


def build_all(into: Path, *, say: Say = lambda _text, _end: None, store: LayerStore | None = None) -> list[Path]:
    """Every image but those of the cluster itself; minutes the first time, then about a second."""
    store = store or default_store()
    with exclusive(store.folder.with_name(f"{store.folder.name}.lock")):
        archives = [_build(build, into, say, store) for build in BUILDS]
        store.forget_other_makers(unused_for=_KEPT_FOR)
    return archives


def build_operator(
    into: Path, architectures: Sequence[str], reference: str, *, say: Say, store: LayerStore | None = None
) -> str:
    """The operator's image for a registry, with a bill of materials for each machine; answers its digest."""
    store = store or default_store()
    with exclusive(store.folder.with_name(f"{store.folder.name}.lock")):
        images = [operator_image(store, PLATFORMS[each], reference) for each in architectures]
        digest = write_image(into / "operator.tar", images)
        for image in images:
            bill = into / f"operator-{image.architecture}.cdx.json"
            bill.write_text(bill_of_materials(image, image_digest(image)))
            say(f"{bill}: what is in it", "\n")
    say(f"{into / 'operator.tar'}: {reference} for {', '.join(architectures)}", "\n")
    say(digest, "\n")
    return digest


def _build(build: Build, into: Path, say: Say, store: LayerStore) -> Path:
    started_at = time.monotonic()
    say(f"{build.archive} ...", "")
    path = write_archive(into / build.archive, build.images(store))
    say(f" {time.monotonic() - started_at:.1f} s, {path.stat().st_size >> 20} MiB", "\n")
    return path
