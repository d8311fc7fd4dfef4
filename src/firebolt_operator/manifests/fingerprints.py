"""When is public material the same? Fingerprints of certificates and public keys, never of secrets."""

import hashlib
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_private_key

_BEGIN: Final = "-----BEGIN "
_END: Final = "-----END CERTIFICATE-----"


def blob_fingerprint(text: str) -> str:
    """Of a text as a whole, without the white space around it."""
    return hashlib.sha256(text.strip().encode()).hexdigest()


def public_key_fingerprint(pem: str) -> str:
    """Of the public key in the first certificate; empty if there is none to be read.

    A certificate that is renewed around the same key keeps it.
    """
    start, end = pem.find(_BEGIN), pem.find(_END)
    if start < 0 or end < start:
        return ""
    try:
        key = x509.load_pem_x509_certificate(pem[start : end + len(_END)].encode()).public_key()
        der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except Exception:  # noqa: BLE001 - whatever the parser trips over in somebody's text, it is no certificate
        return ""
    return hashlib.sha256(der).hexdigest()


def private_key_fingerprint(pem: str) -> str:
    """Of the public half of a private key; empty if it cannot be read. Nothing of the private half is kept."""
    try:
        key = load_pem_private_key(pem.encode(), password=None, unsafe_skip_rsa_key_validation=True)
        der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    except Exception:  # noqa: BLE001 - as above
        return ""
    return hashlib.sha256(der).hexdigest()
