"""How is a signing key asked for?"""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.api.auth import SigningKeyStatus
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import CertManagerSpec
from firebolt_operator.manifests.certificates import SIGNING, UNSEEN_SIGNING, KeyKind, certificate
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.refs import Manifest

COMMON_NAME: Final = "firebolt-jwt-signing"  # a constant: names of instances may be longer than 64 characters


def signing_certificate(
    instance: FireboltInstance, key: SigningKeyStatus, asked: CertManagerSpec, *, is_new: bool
) -> Manifest:
    metadata = component_metadata(instance, key.secret_name, names.COMPONENT_AUTH_SIGNING)
    kind = KeyKind(algorithm=key.algorithm, size=key.size)
    return certificate(metadata, asked, UNSEEN_SIGNING if is_new else SIGNING, kind, {"commonName": COMMON_NAME})
