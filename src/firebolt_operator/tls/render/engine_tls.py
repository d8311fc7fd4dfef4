"""What does an engine learn about TLS? One listener in its configuration, its certificate's files, one annotation."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest

FOLDER: Final = "/secrets/tls/engine"
CHAIN: Final = "/run/firebolt/engine-tls-bundle.crt"
"""Certificate and CA in one file, which the start script makes: the engine checks itself against what it serves."""


def tls_config() -> Manifest:
    """Any listener takes the place of the plaintext one that an engine has by itself."""
    tls = {"certificate_file": CHAIN, "private_key_file": f"{FOLDER}/{names.KEY_PRIVATE_KEY}"}
    return {"endpoints": {"http": {"listeners": [{"type": "tcp", "port": names.PORT_QUERY, "tls": tls}]}}}


def tls_mount(engine: str, generation: int) -> SecretMount:
    """Of the generation itself, never the anchor's."""
    return SecretMount(volume=names.VOLUME_ENGINE_TLS, secret=names.engine_tls_name(engine, generation), path=FOLDER)


def engine_tls_hash(anchor_secret: str, asked: CertManagerSpec | None) -> str:
    """Nothing of a generation is in it: the instance computes it without knowing any."""
    algorithm, size = (asked.algorithm, asked.size) if asked is not None else ("", 0)
    return content_hash(f"{anchor_secret}\0{algorithm}\0{size}")
