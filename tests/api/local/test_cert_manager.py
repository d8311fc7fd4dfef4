"""Does a real cert-manager issue and renew on a control plane of ours? Building it takes minutes, once."""

import base64
import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
from cryptography import x509

from firebolt_local.cluster import processes
from firebolt_local.cluster.cert_manager import GROUP, CertManager
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.kube_http import KubeHttp, KubeRequestError, has_condition
from firebolt_local.programs import provision
from firebolt_operator.refs import Manifest
from tests.support.workloads import eventually

pytestmark = pytest.mark.slow
StartControlPlane = Callable[..., ControlPlane]
NAMESPACE = "default"
CERTIFICATES = f"{GROUP}/namespaces/{NAMESPACE}/certificates"


@pytest.fixture(scope="module")
def program() -> Path:
    return provision.provide(provision.CERTIFICATES)["cert-manager"]


def issuer(kind: str, name: str, spec: Manifest) -> Manifest:
    return {"apiVersion": "cert-manager.io/v1", "kind": kind, "metadata": {"name": name}, "spec": spec}


def certificate(name: str, issuer_name: str, issuer_kind: str = "Issuer", **spec: object) -> Manifest:
    described = {
        "secretName": name,
        "issuerRef": {"name": issuer_name, "kind": issuer_kind},
        "privateKey": {"algorithm": "ECDSA", "size": 384, "rotationPolicy": "Always"},
        "dnsNames": [f"{name}.example"],
        **spec,
    }
    return issuer("Certificate", name, described)


def secret_of(http: KubeHttp, name: str) -> dict[str, bytes] | None:
    """Once the certificate in it is ready."""
    if not has_condition(http.get(f"{CERTIFICATES}/{name}"), "Ready"):
        return None
    data = http.get(f"/api/v1/namespaces/{NAMESPACE}/secrets/{name}")["data"]
    return {key: base64.b64decode(value) for key, value in data.items()}


def serial(secret: dict[str, bytes]) -> int:
    return x509.load_pem_x509_certificate(secret["tls.crt"]).serial_number


def test_given_issuers_then_certificates_are_issued_renewed_and_go_with_their_kinds(
    fresh_control_plane: StartControlPlane, program: Path, tmp_path: Path
) -> None:
    plane = fresh_control_plane(controllers=("*",), scheduler=False)
    http = plane.http
    with pytest.raises(KubeRequestError):
        http.get(CERTIFICATES)
    manager = CertManager(http=http, kubeconfig=plane.kubeconfig, program=program, folder=tmp_path).start()
    http.create(f"{GROUP}/namespaces/{NAMESPACE}/issuers", issuer("Issuer", "itself", {"selfSigned": {}}))
    http.create(f"{GROUP}/clusterissuers", issuer("ClusterIssuer", "itself", {"selfSigned": {}}))
    http.create(CERTIFICATES, certificate("root", "itself", "ClusterIssuer", isCA=True, commonName="root"))
    http.create(f"{GROUP}/namespaces/{NAMESPACE}/issuers", issuer("Issuer", "root", {"ca": {"secretName": "root"}}))
    http.create(CERTIFICATES, certificate("engine", "root"))
    first = eventually(lambda: secret_of(http, "engine"))
    root = eventually(lambda: secret_of(http, "root"))
    assert first["ca.crt"] == root["tls.crt"]
    _check_chain(tmp_path, first)

    manager.renew(NAMESPACE, "engine")
    renewed = eventually(lambda: _another(secret_of(http, "engine"), first))
    assert renewed["tls.key"] != first["tls.key"]
    eventually(
        lambda: http.get(f"{CERTIFICATES}/engine")["status"]["revision"] == 2
    )  # told after the Secret is written
    _check_chain(tmp_path, renewed)

    # Whoever was away goes on where it was.
    manager.stop_controllers()
    assert processes.read_records(tmp_path) == {}
    http.create(CERTIFICATES, certificate("later", "root"))
    manager.start_controllers()
    assert eventually(lambda: secret_of(http, "later"))["ca.crt"] == root["tls.crt"]

    manager.stop_controllers()
    manager.remove_kinds()
    with pytest.raises(KubeRequestError):
        http.get(CERTIFICATES)


def _another(secret: dict[str, bytes] | None, than: dict[str, bytes]) -> dict[str, bytes] | None:
    return secret if secret is not None and serial(secret) != serial(than) else None


def _check_chain(folder: Path, secret: dict[str, bytes]) -> None:
    """The key belongs to the certificate, and the CA beside it has signed that."""
    for name, content in secret.items():
        (folder / name).write_bytes(content)
    ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(folder / "tls.crt", folder / "tls.key")
    authority = x509.load_pem_x509_certificate(secret["ca.crt"])
    x509.load_pem_x509_certificate(secret["tls.crt"]).verify_directly_issued_by(authority)
