"""Plays cert-manager: issues what Certificates ask for, and keeps a private key that is already there.

An issuer may be told to wait, so that a test can look at what is pending.
"""

import asyncio
import base64
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from firebolt_operator.api.names import ANNOTATION_CERTIFICATE_NAME
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.errors import ConflictError, NotFoundError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from tests.support.kubectl import kubectl
from tests.support.self_signed import a_private_key, private_pem, self_signed

DEFINITION: Final = Path(__file__).with_name("certificate_definition.yaml")


def install_certificates(kubeconfig: Path) -> None:
    kubectl(kubeconfig, ("apply", "-f", str(DEFINITION)))
    kubectl(kubeconfig, ("wait", "--for=condition=Established", "--timeout=60s", "crd/certificates.cert-manager.io"))


@dataclass(slots=True)
class CertManager:
    client: KubeClient
    namespace: str
    is_waiting: bool = False
    authority: str = "CA-1"  # nobody verifies anything with it
    private_keys: list[str] = field(default_factory=list[str])  # all that it ever made, as PEM

    async def run(self) -> None:
        scope = Scope(resource=CERTIFICATES, namespace=self.namespace)
        while True:
            for certificate in await self.client.list(scope):
                if self.is_waiting:
                    break  # asked here: who was told to wait while a list was under way waits as well
                try:
                    await self._serve(certificate)
                except (ConflictError, NotFoundError):
                    continue  # somebody changed it meanwhile
            await asyncio.sleep(0.05)

    async def renew(self, name: str) -> None:
        """Another certificate around the same key."""
        await self._write(await self._read(name), await self.client.get(Ref(SECRETS, self.namespace, name)))

    async def _read(self, name: str) -> Manifest:
        found = await self.client.get(Ref(CERTIFICATES, self.namespace, name))
        assert found is not None
        return found

    async def _serve(self, certificate: Manifest) -> None:
        secret = await self.client.get(Ref(SECRETS, self.namespace, certificate["spec"]["secretName"]))
        if secret is not None and _is_ready(certificate):
            return
        # Said first, so that nothing is issued for a request that was withdrawn meanwhile.
        await self._tell(certificate, "Issuing")
        await self._write(certificate, secret)
        await self._tell(certificate, "Ready")

    async def _write(self, certificate: Manifest, secret: Manifest | None) -> None:
        key = _kept_key(secret) or a_private_key()
        pem = private_pem(key)
        self.private_keys.append(pem)
        name = certificate["spec"]["secretName"]
        await self.client.apply(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {
                    "name": name,
                    "namespace": self.namespace,
                    "labels": certificate["spec"].get("secretTemplate", {}).get("labels", {}),
                    "annotations": {ANNOTATION_CERTIFICATE_NAME: certificate["metadata"]["name"]},
                },
                "type": "kubernetes.io/tls",
                "data": {
                    "tls.key": _encoded(pem),
                    "tls.crt": _encoded(self_signed(key)),
                    "ca.crt": _encoded(self.authority),
                },
            }
        )

    async def _tell(self, certificate: Manifest, kind: str) -> None:
        condition = {
            "type": kind,
            "status": "True",
            "reason": kind,
            "message": f"Certificate is {kind.lower()}",
            "lastTransitionTime": certificate["metadata"]["creationTimestamp"],
            "observedGeneration": certificate["metadata"]["generation"],
        }
        await self.client.merge_patch(
            Ref(CERTIFICATES, self.namespace, certificate["metadata"]["name"]),
            {"status": {"conditions": [condition]}},
            subresource="status",
        )


def _is_ready(certificate: Manifest) -> bool:
    conditions = certificate.get("status", {}).get("conditions", [])
    generation = certificate["metadata"]["generation"]
    wanted = {"type": "Ready", "status": "True", "observedGeneration": generation}
    return any(wanted.items() <= each.items() for each in conditions)


def _kept_key(secret: Manifest | None) -> ec.EllipticCurvePrivateKey | None:
    if secret is None or "tls.key" not in secret.get("data", {}):
        return None
    key = load_pem_private_key(base64.b64decode(secret["data"]["tls.key"]), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


@asynccontextmanager
async def running_cert_manager(client: KubeClient, namespace: str) -> AsyncGenerator[CertManager]:
    """`client` writes under a name of its own."""
    played = CertManager(client, namespace)
    async with asyncio.TaskGroup() as group:
        task = group.create_task(played.run(), name="cert-manager")
        yield played
        task.cancel()
