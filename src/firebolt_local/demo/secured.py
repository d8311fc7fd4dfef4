"""The demo through TLS with a login: what the instance asks for beyond the plain one, and how a client gets in.

cert-manager runs as a process beside the cluster, and ends with it.
"""

import base64
import secrets
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from firebolt_local.cluster import processes
from firebolt_local.cluster.cert_manager import PROGRAM, CertManager
from firebolt_local.node.cluster import NodeCluster
from firebolt_local.programs import provision
from firebolt_local.testing.faults import StepFailedError
from firebolt_local.testing.load import Plan
from firebolt_local.testing.tokens import Login
from firebolt_operator.api.names import gateway_name, gateway_tls_name
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.refs import Manifest, Ref

ADMIN: Final = "demo-admin"
_AUTHORITY: Final = "tls-ca"
_KEYS: Final = "jwt-ca"


@dataclass(frozen=True, slots=True)
class Door:
    """How a client of the demo comes to the gateway: by an address in the clear, or by a name that it verifies."""

    url: str
    address: str
    tls: ssl.SSLContext | None = None
    password: str = ""
    hosts: Mapping[str, str] = field(default_factory=dict[str, str])

    def plan(self, engine: str, **fields: Any) -> Plan:
        login = Login(url=self.url, engine=engine, password=self.password) if self.password else None
        return Plan(url=self.url, engine=engine, tls=self.tls, login=login, hosts=self.hosts, **fields)


NO_DOOR: Final = Door("", "")


@dataclass(frozen=True, slots=True)
class Secured:
    """What is told to nobody but engines and the clients of this demo."""

    password: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)

    def asked_for(self, instance: Manifest) -> Manifest:
        """The instance, with TLS on both sides of its gateway and a login."""
        listener = {"enabled": True, "certManager": _issued_by(_AUTHORITY)}
        local = {
            "admin": {"password": {"name": ADMIN, "key": "password"}},
            "signingKeys": {"certManager": _issued_by(_KEYS)},
        }
        tls, auth = {"gateway": listener, "engine": listener}, {"enabled": True, "local": local}
        return instance | {"spec": instance["spec"] | {"tls": tls, "auth": auth}}

    def prerequisites(self, namespace: str) -> list[Manifest]:
        """Issuers with a CA, as docs/tls.md has them, and the administrator's password."""
        authority = {
            "isCA": True,
            "commonName": "firebolt-tls",
            "secretName": _AUTHORITY,
            "privateKey": {"algorithm": "ECDSA", "size": 384},
            "issuerRef": {"name": "bootstrap", "kind": "Issuer"},
        }
        return [
            _certificate_kind("Issuer", "bootstrap", namespace, {"selfSigned": {}}),
            _certificate_kind("Issuer", _KEYS, namespace, {"selfSigned": {}}),
            _certificate_kind("Certificate", _AUTHORITY, namespace, authority),
            _certificate_kind("Issuer", _AUTHORITY, namespace, {"ca": {"secretName": _AUTHORITY}}),
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": ADMIN, "namespace": namespace},
                "stringData": {"password": self.password},
            },
        ]

    async def door(self, client: KubeClient, namespace: str, instance: str, address: str, port: int) -> Door:
        secret = await client.get(Ref(SECRETS, namespace, gateway_tls_name(instance)))
        authority = (secret or {}).get("data", {}).get("ca.crt", "")
        if not authority:
            raise StepFailedError("instance", "it is ready, but nobody can tell which CA its gateway has")
        tls = ssl.create_default_context(cadata=base64.b64decode(authority).decode())
        host = f"{gateway_name(instance)}.{namespace}.svc.cluster.local"
        return Door(f"https://{host}:{port}/", address, tls, self.password, {host: address})


def start_cert_manager(cluster: NodeCluster) -> None:
    """Unless the demo before has left it running."""
    folder = cluster.folder.path
    known = processes.read_records(folder).get(PROGRAM)
    if known is None or not known.is_alive():
        program = provision.provide(provision.CERTIFICATES)[PROGRAM]
        CertManager(
            http=cluster.http, kubeconfig=cluster.kubeconfig, program=program, folder=folder, dies_with_parent=False
        ).start()


def _issued_by(issuer: str) -> Manifest:
    return {"issuerRef": {"name": issuer, "kind": "Issuer"}}


def _certificate_kind(kind: str, name: str, namespace: str, spec: Manifest) -> Manifest:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": CERTIFICATES.api_version, "kind": kind, "metadata": metadata, "spec": spec}
