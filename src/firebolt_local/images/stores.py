"""Where do layers stay between two builds, and when is one made anew?"""

import hashlib

from firebolt_local.images.layers import LayerStore
from firebolt_local.packaged import packaged
from firebolt_local.programs.provision import cache_folder


def default_store() -> LayerStore:
    return LayerStore(cache_folder() / "layers", made_by=_makers())


def _makers() -> str:
    """Changes with the code that fills layers."""
    sources = sorted(packaged("firebolt_local.images").glob("*.py"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
