"""Kubeconfigs and certificates to try things with."""

import base64
import ssl
from pathlib import Path

from firebolt_local.cluster.pki import Authority, KeyPair, Subject
from firebolt_operator.refs import Manifest


def an_authority(folder: Path) -> Authority:
    return Authority(folder / "pki")


def a_pair(authority: Authority, name: str, *hosts: str) -> KeyPair:
    return authority.issue(name, Subject(name, hosts=hosts))


def a_server_context(authority: Authority, *hosts: str) -> ssl.SSLContext:
    """Shows a certificate for these hosts and asks clients for theirs."""
    pair = a_pair(authority, "server", *hosts)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.pair.certificate))
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT  # as the API server: the authority need not have every extension
    context.load_cert_chain(pair.certificate, pair.key)
    context.verify_mode = ssl.CERT_OPTIONAL
    return context


def inline(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def a_kubeconfig(
    *, server: str = "https://127.0.0.1:6443", cluster: Manifest | None = None, user: Manifest | None = None
) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "here", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "me", "user": user or {}}],
        "contexts": [{"name": "now", "context": {"cluster": "here", "user": "me", "namespace": "shop"}}],
        "current-context": "now",
    }
