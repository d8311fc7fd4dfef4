"""A lane with one engine whose instance asks for TLS, and somebody who plays cert-manager there."""

from collections import Counter
from typing import ClassVar, Final

from firebolt_local.testing.ledger import ENGINE_KINDS
from firebolt_operator.api import names
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.crash.engine_lane import ENGINE, INSTANCE, EngineLane
from tests.api.crash.leftovers import AtRest
from tests.support.cert_manager import CertManager

ENCRYPTED_KINDS: Final = (*ENGINE_KINDS, CERTIFICATES, SECRETS)
ANCHOR: Final = f"{INSTANCE}-engine-tls"
LISTENER: Final[Manifest] = {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}
PROVISIONED: Final[Manifest] = {"secretName": ANCHOR, "createdAt": "2026-01-01T00:00:00Z", "reencrypting": False}


class EncryptedLane(EngineLane):
    kinds: ClassVar[tuple[Resource, ...]] = ENCRYPTED_KINDS

    async def furnish(self) -> None:
        await super().furnish()
        data = dict.fromkeys((names.KEY_CERTIFICATE, names.KEY_PRIVATE_KEY, names.KEY_AUTHORITY), "eA==")
        metadata = {"name": ANCHOR, "namespace": self.namespace}
        await self.client.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
        await self.turn(is_on=True)

    async def turn(self, *, is_on: bool) -> None:
        """As an instance that nobody works on would be told, by somebody who does."""
        ref = Ref(FIREBOLT_INSTANCES, self.namespace, INSTANCE)
        await self.client.merge_patch(
            ref, {"status": {"engineTLS": PROVISIONED if is_on else None}}, subresource="status"
        )
        await self.client.merge_patch(ref, {"spec": {"tls": {"engine": LISTENER if is_on else None}}})

    async def until_turned(self, *, is_on: bool) -> None:
        await self.ledger.until(self.namespace, lambda _: [] if self.speaks_tls is is_on else ["not heard of yet"])

    @property
    def speaks_tls(self) -> bool:
        instance = self.world.get((FIREBOLT_INSTANCES.kind, INSTANCE), {})
        return bool(instance.get("spec", {}).get("tls", {}).get("engine"))

    async def renew(self) -> None:
        played = CertManager(self.client, self.namespace)
        await played.renew(names.engine_tls_name(ENGINE, self.generation))

    def objects(self, wanted: AtRest) -> Counter[str]:
        certificate = names.engine_tls_name(ENGINE, wanted.generation)
        issued = [f"Certificate {certificate}", f"Secret {certificate}"] if self.speaks_tls else []
        return wanted.objects() + self.leftovers() + Counter(issued)

    def leftovers(self) -> Counter[str]:
        return Counter([f"Secret {ANCHOR}"])
