"""How is a Certificate asked for? Applied where it differs, and never over somebody else's."""

from dataclasses import dataclass

from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Writer
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import stranger
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.reconciling.issued_views import CertificateView
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.optional_kind import OptionalKind


@dataclass(frozen=True, slots=True)
class CertificateWriter:
    certificates: OptionalKind[CertificateView]
    writer: Writer

    async def ensure(self, owner_uid: str, manifest: Manifest) -> None:
        ref = ref_of(manifest)
        # A cache knows what carries our label: somebody's Certificate without it would be taken over.
        live = await self.certificates.read(ref) or await self.certificates.read(ref, is_live=True)
        if live is None:
            await self.writer.apply(manifest)
            return
        theirs = stranger(owner_uid, live)
        if theirs is not None:
            # Whoever made it may know the key.
            raise OperatorError(f"{ref} exists and {theirs}; delete it, and the Secret of that name")
        if not live.metadata.is_deleting and not is_applied(manifest, live):
            await self.writer.apply(manifest)
