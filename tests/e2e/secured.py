"""Where do instances with TLS and a login live? In a namespace with issuers, beside cert-manager's own controllers."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from firebolt_local.cluster.cert_manager import GROUP, CertManager
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.programs import provision
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.refs import Manifest
from tests.e2e.environment import Environment

NAMESPACE: Final = "secure"
PASSWORD: Final = "correct horse battery staple"
AUTHORITY: Final = "tls-ca"
_ADMIN: Final = "admin-credentials"
_BY_THE_AUTHORITY: Final[Manifest] = {"issuerRef": {"name": AUTHORITY, "kind": "Issuer"}}
LISTENER: Final[Manifest] = {"enabled": True, "certManager": _BY_THE_AUTHORITY}
BOTH_LISTENERS: Final[Manifest] = {"engine": LISTENER, "gateway": LISTENER}
NEVER: Final = "720h"
LOGIN: Final[Manifest] = {
    "enabled": True,
    "local": {
        "admin": {"password": {"name": _ADMIN, "key": "password"}},
        "signingAlgorithm": "ES384",
        "tokenExpiry": "2m",
        "maxTokenAge": "2m",
        "clockSkewTolerance": "0s",
        "signingKeys": {
            "certManager": {"issuerRef": {"name": "jwt-ca", "kind": "Issuer"}},
            "rotationInterval": NEVER,
            "retainDuration": "2m",
        },
    },
}


@contextmanager
def secured_place(environment: Environment, folder: Path) -> Generator[CertManager]:
    """Nothing of it is left afterwards, cert-manager's kinds included: the tests that follow know none."""
    cluster = environment.cluster
    program = provision.provide(provision.CERTIFICATES)[provision.CERTIFICATES[0]]
    manager = CertManager(http=cluster.http, kubeconfig=cluster.kubeconfig, program=program, folder=folder).start()
    try:
        environment.make_namespace(NAMESPACE)
        _furnish(cluster.http)
        yield manager
        # Before the namespace: it would go on waiting for finalizers while the operator looks for what is gone.
        for resource in (FIREBOLT_ENGINES, FIREBOLT_INSTANCES):
            environment.kubectl("delete", resource.plural, "--all", f"--namespace={NAMESPACE}", "--timeout=120s")
        environment.kubectl("delete", "namespace", NAMESPACE, "--timeout=120s")
        manager.remove_kinds()
    finally:
        manager.stop_controllers()


def _furnish(http: KubeHttp) -> None:
    """As docs/tls.md and docs/authentication.md have it."""
    certificates = f"{GROUP}/namespaces/{NAMESPACE}"
    for issuer in _issuers():
        http.create(f"{certificates}/issuers", issuer)
    http.create(f"{certificates}/{CERTIFICATES.plural}", _authority())
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": _ADMIN}, "stringData": {"password": PASSWORD}}
    http.create(f"/api/v1/namespaces/{NAMESPACE}/secrets", secret)


def _issuers() -> Iterable[Manifest]:
    specs: dict[str, Manifest] = {
        "bootstrap": {"selfSigned": {}},
        "jwt-ca": {"selfSigned": {}},
        AUTHORITY: {"ca": {"secretName": AUTHORITY}},
    }
    for name, spec in specs.items():
        yield {"apiVersion": CERTIFICATES.api_version, "kind": "Issuer", "metadata": {"name": name}, "spec": spec}


def _authority() -> Manifest:
    spec = {
        "isCA": True,
        "commonName": "firebolt-tls",
        "secretName": AUTHORITY,
        "privateKey": {"algorithm": "ECDSA", "size": 384, "rotationPolicy": "Always"},
        "issuerRef": {"name": "bootstrap", "kind": "Issuer"},
    }
    metadata = {"name": AUTHORITY}
    return {"apiVersion": CERTIFICATES.api_version, "kind": CERTIFICATES.kind, "metadata": metadata, "spec": spec}
