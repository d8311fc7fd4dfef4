"""What is there of a generation's certificate, and does the gateway trust it?"""

import asyncio
import logging
from dataclasses import dataclass
from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.engine.views import Child
from firebolt_operator.kube.ports import Reader
from firebolt_operator.manifests.issued import IssuedSecret
from firebolt_operator.manifests.live_objects import live_object
from firebolt_operator.reconciling.issued_views import decode_served_secret
from firebolt_operator.refs import Ref, Resource
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.optional_kind import OptionalKind
from firebolt_operator.tls.facts import TrustBundle
from firebolt_operator.tls.observe.gateway import stored_bundle

DISCOVERY_SECONDS: Final = 5.0  # for the first answer, when the process has just started

log = logging.getLogger("firebolt_operator.engine")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenerReader:
    """From caches, or live: then nothing is believed that a cache says."""

    certificates: OptionalKind[Child]
    secrets: Cache[Child]  # of engines
    reader: Reader

    async def has_cert_manager(self) -> bool:
        try:
            async with asyncio.timeout(DISCOVERY_SECONDS):
                await self.certificates.discovered.wait()
        except TimeoutError:
            log.warning("nobody has told yet whether cert-manager is there")
        return self.certificates.is_served

    async def certificate(self, engine: FireboltEngine, *, is_live: bool) -> Child | None:
        """None only on the server's own word: a cache knows nothing of one that is somebody else's."""
        ref = _ref(engine, CERTIFICATES)
        known = None if is_live else await self.certificates.read(ref)
        return known or await self.certificates.read(ref, is_live=True)

    async def secret(self, engine: FireboltEngine, *, is_live: bool) -> IssuedSecret | None:
        """With its CA if it is read live."""
        ref = _ref(engine, SECRETS)
        if is_live:
            return await self.issued(ref)
        known = self.secrets.known((ref.namespace, ref.name))
        return None if known is None else known.issued

    async def issued(self, ref: Ref) -> IssuedSecret | None:
        """Live. The cache learns it, so that no later pass knows less."""
        since = self.secrets.version((ref.namespace, ref.name))
        body = await self.reader.get_raw(ref)
        self.secrets.observed(ref, body, since=since)
        return None if body is None else decode_served_secret(body)

    async def trust_bundle(self, instance: FireboltInstance) -> TrustBundle:
        """What the gateway trusts, as it is stored now."""
        metadata = instance.metadata
        found = await self.reader.get(Ref(SECRETS, metadata.namespace, names.engine_ca_bundle_name(metadata.name)))
        return stored_bundle(metadata.uid, None if found is None else live_object(found))


def _ref(engine: FireboltEngine, resource: Resource) -> Ref:
    metadata = engine.metadata
    return Ref(resource, metadata.namespace, names.engine_tls_name(metadata.name, engine.status.current_generation))
