"""What has cert-manager made of a request? Its Certificate as it judges it, and the Secret that it wrote.

Of a Secret only public parts are kept, and which of its keys are filled.
"""

from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.api.names import ANNOTATION_CERTIFICATE_NAME
from firebolt_operator.manifests.revocations import Signer


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedCertificate:
    uid: str
    created_at: datetime
    generation: int
    ready_generation: int | None  # that its condition Ready speaks of; None while that is not True

    @property
    def is_ready(self) -> bool:
        """After an edit whose reissue fails the old Secret is still there: only the current generation counts."""
        return self.ready_generation == self.generation


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedSecret:
    uid: str
    created_at: datetime
    filled: frozenset[str]
    issued_for: str = ""  # the Certificate that its annotation names
    version: str = ""  # resourceVersion
    public_key: str = ""  # fingerprint, of the private key's public half if there is one; empty if it cannot be read
    authority: str = ""  # the text of ca.crt
    served: str = ""  # fingerprint of the text of tls.crt
    revocations: str = ""  # fingerprint of the text of crl.pem; empty unless all of it can be read
    revoking: frozenset[Signer] = frozenset()  # who signed the lists in it

    def has(self, *keys: str) -> bool:
        return self.filled.issuperset(keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """Both objects have one name; None means that there is none."""

    certificate: IssuedCertificate | None = None
    secret: IssuedSecret | None = None


NOTHING_ISSUED = Issued()


def wrong_secret(secret: IssuedSecret, certificate: str) -> str:
    """Why the Secret is not that certificate's; empty if it is."""
    if secret.issued_for == certificate:
        return ""
    return (
        "secret was not issued by cert-manager for the expected certificate: "
        f'annotation "{ANNOTATION_CERTIFICATE_NAME}" is "{secret.issued_for}", want "{certificate}"'
    )
