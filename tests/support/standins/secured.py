"""Engines with TLS and authentication, as the operator renders them, with files where it mounts Secrets."""

import json
import ssl
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from firebolt_local.cluster.pki import Authority, KeyPair, Subject
from firebolt_operator.api.auth import AuthSpec
from firebolt_operator.auth.render.engine_auth import EngineAuth, auth_config, auth_mounts
from firebolt_operator.engine.inputs import InstanceInfo
from firebolt_operator.engine.render.engine_config import deep_merge, engine_config
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.render import engine_tls
from firebolt_operator.tls.render.engine_tls import tls_config
from tests.support.auth import a_key, an_auth_spec
from tests.support.engine_inputs import INSTANCE, engine_inputs

HOST = "localhost"  # a name that generations have certificates for, and that can be looked up here
PASSWORD = "correct horse battery staple"
RESOURCE = f"https://firebolt.io/instance/{INSTANCE.id}"
PrivateKey = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Secured:
    """A folder that stands for the root of a pod's disk."""

    folder: Path
    authority: Authority
    keys: Mapping[int, PrivateKey]

    @classmethod
    def made(cls, folder: Path, keys: Mapping[int, PrivateKey] | None = None) -> "Secured":
        given = keys or {1: ec.generate_private_key(ec.SECP384R1())}
        secured = cls(folder=folder / "root", authority=Authority(folder / "ca"), keys=given)
        secured.mount_certificate(secured.authority.issue("engine", Subject("engine", hosts=[HOST])))
        return secured

    def document(self, metadata_port: int, *, spec: AuthSpec | None = None, has_tls: bool = True) -> Manifest:
        auth = _engine_auth(spec or an_auth_spec(), tuple(self.keys))
        self._mount_auth(auth)
        sections = deep_merge(auth_config(auth), tls_config() if has_tls else {})
        endpoint = f"127.0.0.1:{metadata_port}"
        instance = InstanceInfo(id=INSTANCE.id, metadata_endpoint=endpoint, config_sections=sections)
        rendered = engine_config(engine_inputs({"replicas": 1}, instance=instance), 0)
        rendered["engine"]["nodes"] = [{"host": HOST}]
        text = json.dumps(rendered)
        for path in ("/secrets/", "/run/firebolt/"):
            text = text.replace(f'"{path}', f'"{self.folder}{path}')
        document: Manifest = json.loads(text)
        return document

    def mount_certificate(self, pair: KeyPair, *, has_authority: bool = True) -> None:
        """As cert-manager fills the Secret, and as the start script joins its two files."""
        leaf, authority = pair.certificate.read_text(), self.authority.pair.certificate.read_text()
        self.write(f"{engine_tls.FOLDER}/tls.key", pair.key.read_text())
        self.write(engine_tls.CHAIN, leaf + authority if has_authority else leaf)

    def client_context(self) -> ssl.SSLContext:
        return ssl.create_default_context(cafile=str(self.authority.pair.certificate))

    def write(self, path: str, content: str) -> None:
        file = self.folder / path.removeprefix("/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)

    def _mount_auth(self, auth: EngineAuth) -> None:
        admin, *signing = auth_mounts(auth)
        self.write(f"{admin.path}/{auth.local.admin.password.key}", PASSWORD)
        for mount, key in zip(signing, self.keys.values(), strict=True):
            self.write(f"{mount.path}/tls.key", private_pem(key))


def private_pem(key: PrivateKey) -> str:
    """As cert-manager writes keys."""
    is_elliptic = isinstance(key, ec.EllipticCurvePrivateKey)
    shape = PrivateFormat.TraditionalOpenSSL if is_elliptic else PrivateFormat.PKCS8
    return key.private_bytes(Encoding.PEM, shape, NoEncryption()).decode()


def _engine_auth(spec: AuthSpec, numbers: Sequence[int]) -> EngineAuth:
    if spec.local is None:
        raise RuntimeError("authentication without a local server")
    keys = [a_key(number) for number in numbers]
    return EngineAuth(spec=spec, local=spec.local, keys=keys, admin_version="17")
