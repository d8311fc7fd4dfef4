"""The same TLS for a plain Envoy and for the gateway: certificates of one run, and the sockets that read them."""

import json
from pathlib import Path

from firebolt_operator.gateway.envoy.transport import CERTIFICATE_FOLDER, FOLDER, downstream_tls, upstream_tls
from firebolt_operator.gateway.inputs import GatewayTLS
from firebolt_operator.refs import Manifest
from tests.support.dataplane.rig import NAMESPACE, service_host
from tests.support.pki import Authority, Leaf


def write_certificates(folder: Path, engine: str, gateway: str) -> None:
    """As they are mounted into a gateway's pod, and beside them the engine's own."""
    authority = Authority("bench")
    _write(folder / "gateway", authority.leaf(gateway))
    _write(folder / "engine", authority.leaf(service_host(engine), "localhost"))
    (folder / "engine-ca").mkdir()
    (folder / "engine-ca" / "ca.crt").write_text(authority.pem)


def both_sides() -> GatewayTLS:
    return GatewayTLS(downstream=downstream_tls(), upstream=upstream_tls(NAMESPACE))


def listening(folder: Path, whose: str) -> Manifest:
    """The transport socket of a listener: the gateway's certificate, or the engine's."""
    return _moved(downstream_tls(), CERTIFICATE_FOLDER, folder / whose)


def connecting(folder: Path) -> Manifest:
    return _moved(upstream_tls(NAMESPACE), FOLDER, folder)


def _moved(socket: Manifest, mounted: str, folder: Path) -> Manifest:
    """What is mounted into a pod, read from this run's folder."""
    moved: Manifest = json.loads(json.dumps(socket).replace(mounted, str(folder)))
    return moved


def _write(folder: Path, leaf: Leaf) -> None:
    folder.mkdir()
    (folder / "tls.crt").write_text(leaf.certificate)
    (folder / "tls.key").write_text(leaf.key)
