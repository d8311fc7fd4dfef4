"""Carries out what was decided about signing keys, in its order: the first failure ends it."""

from dataclasses import dataclass

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.auth.plan import AuthWrite, DeleteCertificate, DeleteSecret, EnsureCertificate
from firebolt_operator.auth.render.signing_certificate import signing_certificate
from firebolt_operator.auth.views import CertificateView
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Writer
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import stranger
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.optional_kind import OptionalKind


@dataclass(frozen=True, slots=True)
class AuthActor:
    certificates: OptionalKind[CertificateView]
    writer: Writer

    async def carry_out(self, instance: FireboltInstance, writes: tuple[AuthWrite, ...]) -> None:
        namespace = instance.metadata.namespace
        for write in writes:
            match write:
                case EnsureCertificate():
                    await self._ensure(instance, _rendered(instance, write))
                case DeleteCertificate(name, uid):
                    await self.writer.delete(Ref(CERTIFICATES, namespace, name), uid=uid)
                case DeleteSecret(name, uid):
                    await self.writer.delete(Ref(SECRETS, namespace, name), uid=uid)

    async def _ensure(self, instance: FireboltInstance, manifest: Manifest) -> None:
        ref = ref_of(manifest)
        # A cache knows what carries our label: somebody's Certificate without it would be taken over.
        live = await self.certificates.read(ref) or await self.certificates.read(ref, is_live=True)
        if live is None:
            await self.writer.apply(manifest)
            return
        theirs = stranger(instance.metadata.uid, live)
        if theirs is not None:
            # Whoever made it may know the key.
            raise OperatorError(f"{ref} exists and {theirs}; delete it, and the Secret of that name")
        if not live.metadata.is_deleting and not is_applied(manifest, live):
            await self.writer.apply(manifest)


def _rendered(instance: FireboltInstance, write: EnsureCertificate) -> Manifest:
    auth = instance.spec.auth
    keys = auth.local.signing_keys if auth and auth.local else None
    if keys is None:
        raise RuntimeError(f"nobody asks for signing keys of {instance.metadata.name}")
    return signing_certificate(instance, write.key, keys.cert_manager)
