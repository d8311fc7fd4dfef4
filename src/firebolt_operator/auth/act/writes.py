"""Carries out what was decided about signing keys, in its order: the first failure ends it."""

from dataclasses import dataclass

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.auth.plan import AuthWrite, DeleteCertificate, DeleteSecret, EnsureCertificate
from firebolt_operator.auth.render.signing_certificate import signing_certificate
from firebolt_operator.kube.ports import Writer
from firebolt_operator.reconciling.certificates import CertificateWriter
from firebolt_operator.refs import Manifest, Ref


@dataclass(frozen=True, slots=True)
class AuthActor:
    certificates: CertificateWriter
    writer: Writer

    async def carry_out(self, instance: FireboltInstance, writes: tuple[AuthWrite, ...]) -> None:
        namespace = instance.metadata.namespace
        for write in writes:
            match write:
                case EnsureCertificate():
                    await self.certificates.ensure(instance.metadata.uid, _rendered(instance, write))
                case DeleteCertificate(name, uid):
                    await self.writer.delete(Ref(CERTIFICATES, namespace, name), uid=uid)
                case DeleteSecret(name, uid):
                    await self.writer.delete(Ref(SECRETS, namespace, name), uid=uid)


def _rendered(instance: FireboltInstance, write: EnsureCertificate) -> Manifest:
    auth = instance.spec.auth
    keys = auth.local.signing_keys if auth and auth.local else None
    if keys is None:
        raise RuntimeError(f"nobody asks for signing keys of {instance.metadata.name}")
    return signing_certificate(instance, write.key, keys.cert_manager, is_new=write.is_new)
