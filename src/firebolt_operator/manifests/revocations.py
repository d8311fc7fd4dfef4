"""Which CAs does a text with lists of revoked certificates speak for? Without a list, nobody of a CA is let in.

Envoy does not start with a list that it cannot read. From a text without any it takes none, and then refuses
everybody, because nothing tells that they were not revoked.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from cryptography import x509

_BEGIN: Final = "-----BEGIN "
_LIST: Final = "X509 CRL"
_CERTIFICATE: Final = "CERTIFICATE"


class Signer(NamedTuple):
    """A CA, by its name and by its key: one that was renewed has the same name, and another key."""

    name: str
    key: str = ""  # its identifier; empty where none is written down


def read_revocations(pem: str) -> frozenset[Signer]:
    """Who signed the lists; nobody unless there is one, and every one of them can be read."""
    lists = list(_blocks(pem, _LIST))
    if not lists or len(lists) != pem.count(_BEGIN):
        return frozenset()
    try:
        return frozenset(_signer_of(x509.load_pem_x509_crl(each.encode())) for each in lists)
    except Exception:  # noqa: BLE001 - whatever the parser trips over in somebody's text, it is no list
        return frozenset()


def has_list(signers: Iterable[Signer], authorities: str) -> list[bool]:
    """For each CA in the text whether one of the lists is its own."""
    keys = defaultdict[str, set[str]](set)
    for each in signers:
        keys[each.name].add(each.key)
    return [_is_listed(keys.get(authority.name, set()), authority.key) for authority in _authorities(authorities)]


def _is_listed(keys: set[str], key: str) -> bool:
    """By a list of its name: with its key, or where either of them is not written down."""
    return key in keys or "" in keys or (not key and bool(keys))


def _blocks(pem: str, label: str) -> Iterator[str]:
    """In one walk over the text: a pattern would look for the end of every beginning that has none, again and again."""
    begin, end = f"-----BEGIN {label}-----", f"-----END {label}-----"
    at = pem.find(begin)
    while at >= 0:
        last = pem.find(end, at)
        if last < 0:
            return
        yield pem[at : last + len(end)]
        at = pem.find(begin, last)


def _signer_of(revocations: x509.CertificateRevocationList) -> Signer:
    try:
        key = revocations.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
    except x509.ExtensionNotFound:
        key = None
    return Signer(revocations.issuer.rfc4514_string(), (key or b"").hex())


def _authorities(pem: str) -> list[Signer]:
    return [found for each in _blocks(pem, _CERTIFICATE) if (found := _authority(each)) is not None]


def _authority(pem: str) -> Signer | None:
    try:
        certificate = x509.load_pem_x509_certificate(pem.encode())
        name, extensions = certificate.subject.rfc4514_string(), certificate.extensions
    except Exception:  # noqa: BLE001 - as above
        return None
    try:
        key = extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    except x509.ExtensionNotFound:
        key = b""
    return Signer(name, key.hex())
