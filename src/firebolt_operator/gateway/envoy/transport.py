"""How does Envoy speak TLS: to clients, and to engines? Files are read when a pod starts, and never again."""

from typing import Final

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.extensions import extension
from firebolt_operator.refs import Manifest

FOLDER: Final = "/etc/envoy/tls"
CERTIFICATE_FOLDER: Final = f"{FOLDER}/gateway"
CLIENT_CA_FOLDER: Final = f"{FOLDER}/client-ca"
CLIENT_CRL_FOLDER: Final = f"{FOLDER}/client-crl"
ENGINE_CA_FOLDER: Final = f"{FOLDER}/engine-ca"
ENGINE_CRL_FOLDER: Final = f"{FOLDER}/engine-crl"
CURVES: Final = ("X25519", "P-256", "P-384", "P-521")
"""Every one that an engine's key may have; the largest two are not among those that Envoy offers by itself."""


def downstream_tls(*, asks_for_certificate: bool = False, has_crl: bool = False) -> Manifest:
    """The transport socket of the listener for clients; with `asks_for_certificate` they need one of the client CA."""
    files = {
        "certificate_chain": _file(CERTIFICATE_FOLDER, names.KEY_CERTIFICATE),
        "private_key": _file(CERTIFICATE_FOLDER, names.KEY_PRIVATE_KEY),
    }
    common: Manifest = {
        "tls_params": {"tls_minimum_protocol_version": "TLSv1_2"},
        "tls_certificates": [files],
        "alpn_protocols": ["h2", "http/1.1"],  # as without TLS, clients may speak either
    }
    if not asks_for_certificate:
        return _socket("DownstreamTlsContext", {"common_tls_context": common})
    trusted = _trusted(CLIENT_CA_FOLDER, CLIENT_CRL_FOLDER if has_crl else "")
    mutual = {"common_tls_context": {**common, "validation_context": trusted}, "require_client_certificate": True}
    return _socket("DownstreamTlsContext", mutual)


def upstream_tls(namespace: str, *, has_crl: bool = False) -> Manifest:
    """The transport socket towards engines, for queries and health checks alike.

    Names are matched here because health checks are not covered by what Envoy matches by itself, and they are the names
    of engines: any other workload of the namespace may have a certificate of the same issuer.
    """
    pods = rf"^[a-z0-9-]+-g[0-9]+-hl\.{namespace}\.svc\.cluster\.local$"
    names_of_engines = [
        {"san_type": "DNS", "matcher": {"suffix": f"-service.{namespace}.svc.cluster.local"}},
        {"san_type": "DNS", "matcher": {"safe_regex": {"regex": pods}}},
    ]
    trusted = _trusted(ENGINE_CA_FOLDER, ENGINE_CRL_FOLDER if has_crl else "")
    versions = {
        "tls_minimum_protocol_version": "TLSv1_2",
        "tls_maximum_protocol_version": "TLSv1_3",  # a client's own is 1.2, whatever the minimum says
        "ecdh_curves": list(CURVES),
    }
    validation = {**trusted, "match_typed_subject_alt_names": names_of_engines}
    return _socket(
        "UpstreamTlsContext", {"common_tls_context": {"tls_params": versions, "validation_context": validation}}
    )


def _trusted(authorities: str, revocations: str) -> Manifest:
    crl = {"crl": _file(revocations, names.KEY_REVOCATIONS)} if revocations else {}
    return {"trusted_ca": _file(authorities, names.KEY_AUTHORITY), **crl}


def _file(folder: str, key: str) -> Manifest:
    return {"filename": f"{folder}/{key}"}


def _socket(kind: str, settings: Manifest) -> Manifest:
    return extension("envoy.transport_sockets.tls", f"transport_sockets.tls.v3.{kind}", settings)
