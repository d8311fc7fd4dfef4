"""The HTTP servers of the process: health and metrics."""

import os
import random
import ssl
from collections.abc import Mapping
from pathlib import Path

from aiohttp import web

from firebolt_operator.runtime.certificates import (
    CertificateFiles,
    ReloadingCertificate,
    self_signed_pem,
    server_context,
)
from firebolt_operator.runtime.connections import WATCHING_LIMITS
from firebolt_operator.runtime.health import Check, health_app, ping
from firebolt_operator.runtime.manager import Service
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.scrape_access import ScrapeAccess
from firebolt_operator.runtime.servers import BindAddress, HttpServer, parse_bind_address
from firebolt_operator.wiring.factory import ControllerFactory

# Not tempfile.gettempdir(): it wants to write there, and the operator's disk is read-only.
DEFAULT_CERTIFICATES = Path(os.environ.get("TMPDIR") or "/tmp", "k8s-metrics-server", "serving-certs")  # noqa: S108
OFF = frozenset({"", "0"})


def health_servers(address: str, ready: Mapping[str, Check]) -> list[HttpServer]:
    """`ready`: what must hold besides being alive before anybody is sent here."""
    if address in OFF:
        return []
    app = health_app(readyz={"readyz": ping, **ready})
    return [_for_watchers("health", app, parse_bind_address(address))]


def metrics_servers(factory: ControllerFactory) -> tuple[list[HttpServer], list[Service]]:
    """The server, and what keeps its certificate fresh."""
    settings = factory.settings.metrics
    if settings.bind_address in OFF:
        return [], []
    address = parse_bind_address(settings.bind_address)
    if not settings.secure:
        return [_for_watchers("metrics", metrics_app(factory.metrics.render, None), address)], []
    access = ScrapeAccess(factory.client.reviews, factory.clock, random.Random())
    app = metrics_app(factory.metrics.render, access)
    folder = Path(settings.cert_path) if settings.cert_path else DEFAULT_CERTIFICATES
    files = CertificateFiles(folder / settings.cert_name, folder / settings.cert_key)
    if not files.exist:
        return [_for_watchers("metrics", app, address, server_context(self_signed_pem(factory.clock)))], []
    certificate = ReloadingCertificate(files, factory.clock, factory.certificate_metrics.of("metrics"))
    return [_for_watchers("metrics", app, address, certificate.context)], [certificate]


def _for_watchers(
    name: str, app: web.Application, address: BindAddress, tls: ssl.SSLContext | None = None
) -> HttpServer:
    return HttpServer(name, app, address, tls, WATCHING_LIMITS)
