"""Reading and writing the Lease that leadership hangs on."""

from dataclasses import replace

from firebolt_operator.kube.decoding import decode_manifest
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.paths import object_path
from firebolt_operator.kube.translate import refusal
from firebolt_operator.kube.transport import Call, Lane, Transport
from firebolt_operator.kube.writing import KubeWriter, WriteRules
from firebolt_operator.refs import Manifest, Ref, Resource

LEASES = Resource("coordination.k8s.io", "v1", "leases", "Lease")


class LeaseClient:
    """The Leases protocol: a clock runs while these calls do, so each has its caller's deadline and one try."""

    def __init__(self, transport: Transport, field_manager: str) -> None:
        self._transport = transport
        self._kinds = Kinds(transport, [LEASES])
        self._rules = WriteRules(field_manager=field_manager, lane=Lane.UNLIMITED, can_repeat=False)

    async def get(self, ref: Ref, /, *, timeout_seconds: float) -> Manifest | None:
        doing = f"reading {ref}"
        call = Call(
            doing=doing,
            method="GET",
            path=object_path(ref),
            resource=LEASES.plural,
            lane=Lane.UNLIMITED,
            timeout_seconds=timeout_seconds,
            can_repeat=False,
        )
        answer = await self._transport.exchange(call)
        if answer.code == 404:
            return None
        if not answer.is_success:
            raise refusal(doing, answer.code, answer.body, is_write=False)
        return await decode_manifest(doing, answer.body)

    async def create(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest:
        return await self._writer(timeout_seconds).create(manifest)

    async def update(self, manifest: Manifest, /, *, timeout_seconds: float) -> Manifest:
        return await self._writer(timeout_seconds).replace(manifest)

    def _writer(self, timeout_seconds: float) -> KubeWriter:
        return KubeWriter(self._transport, self._kinds, replace(self._rules, timeout_seconds=timeout_seconds))
