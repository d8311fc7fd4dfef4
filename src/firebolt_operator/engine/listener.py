"""How an engine speaks TLS: what cert-manager is asked for, and what is there of it for the generation in question."""

from dataclasses import dataclass

from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.engine.views import Child
from firebolt_operator.manifests.issued import IssuedSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    asked: CertManagerSpec
    generation: int
    has_cert_manager: bool
    certificate: Child | None
    secret: IssuedSecret | None
    untrusted: str = ""  # why the gateway would refuse to speak to this generation; only a live look tells
