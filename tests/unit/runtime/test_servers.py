"""What probes, scrapers and browsers get from the servers, over real sockets on loopback."""

import asyncio
import datetime as dt
import ipaddress
import random
import ssl
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest
from aiohttp import web

from firebolt_operator.errors import ConfigurationError, OperatorError, TransientError
from firebolt_operator.kube.reviews import AccessQuestion, AccessVerdict, TokenOwner, TokenVerdict
from firebolt_operator.runtime import certificates
from firebolt_operator.runtime.certificates import CertificateFiles, ReloadingCertificate
from firebolt_operator.runtime.clock import SystemClock
from firebolt_operator.runtime.health import health_app
from firebolt_operator.runtime.metrics_server import metrics_app
from firebolt_operator.runtime.scrape_access import ScrapeAccess
from firebolt_operator.runtime.servers import BindAddress, HttpServer, parse_bind_address
from tests.support.manual_clock import ManualClock, idle

LOOPBACK = BindAddress("127.0.0.1", 0)


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]


@asynccontextmanager
async def serving(app: web.Application, tls: ssl.SSLContext | None = None) -> AsyncGenerator[str]:
    server = HttpServer("test", app, LOOPBACK, tls)
    await server.start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.port}"
    finally:
        await server.stop()


async def fetch(url: str, headers: dict[str, str] | None = None) -> Answer:
    async with aiohttp.ClientSession() as session, session.get(url, headers=headers, ssl=False) as response:
        return Answer(response.status, await response.text(), dict(response.headers))


@pytest.mark.parametrize(
    ("path", "status", "text"),
    [
        pytest.param("/healthz", 200, "ok", id="healthz"),
        pytest.param("/healthz/", 200, "ok", id="healthz-slash"),
        pytest.param("/readyz", 200, "ok", id="readyz"),
        pytest.param("/readyz/", 200, "ok", id="readyz-slash"),
        pytest.param("/healthz/healthz", 200, "ok", id="one-check"),
        pytest.param("/readyz/readyz", 200, "ok", id="one-ready-check"),
        pytest.param("/healthz/other", 404, "404: Not Found", id="unknown-check"),
        pytest.param("/livez", 404, "404: Not Found", id="unknown-path"),
        pytest.param("/healthz?verbose", 200, "[+]healthz ok\nhealthz check passed\n", id="verbose"),
        pytest.param("/readyz?verbose=1", 200, "[+]readyz ok\nreadyz check passed\n", id="verbose-with-value"),
        pytest.param("/healthz?exclude=healthz&verbose", 200, "healthz check passed\n", id="excluded"),
    ],
)
async def test_health(path: str, status: int, text: str) -> None:
    async with serving(health_app()) as url:
        answer = await fetch(url + path)
    assert (answer.status, answer.text) == (status, text)
    if status == 200:
        assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_given_a_failing_check_then_the_answer_is_500_and_says_which_but_not_why() -> None:
    app = health_app(healthz={"good": lambda: True, "bad": lambda: False})
    async with serving(app) as url:
        all_of_them, only_good = await fetch(f"{url}/healthz"), await fetch(f"{url}/healthz?exclude=bad")
        single = await fetch(f"{url}/healthz/bad")
    assert (all_of_them.status, all_of_them.text) == (
        500,
        "[+]good ok\n[-]bad failed: reason withheld\nhealthz check failed\n",
    )
    assert (only_good.status, single.status) == (200, 500)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (":8081", BindAddress(None, 8081)),
        ("127.0.0.1:80", BindAddress("127.0.0.1", 80)),
        ("[::1]:8443", BindAddress("::1", 8443)),
    ],
)
def test_bind_address(text: str, expected: BindAddress) -> None:
    assert parse_bind_address(text) == expected


@pytest.mark.parametrize("text", ["8081", ":http", ":99999", ""])
def test_given_nonsense_then_it_is_no_bind_address(text: str) -> None:
    with pytest.raises(ConfigurationError, match="bind address"):
        parse_bind_address(text)


async def test_given_a_farewell_then_kept_connections_end_with_an_answer_and_not_under_a_request() -> None:
    clock = ManualClock()
    server = HttpServer("test", health_app(), LOOPBACK, clock=clock, farewell_seconds=2)
    await server.start()
    url = f"http://127.0.0.1:{server.port}/healthz"
    async with aiohttp.ClientSession() as session, asyncio.TaskGroup() as group:
        async with session.get(url) as kept:
            assert "Connection" not in kept.headers
        stopping = group.create_task(server.stop(), name="stop")
        await idle()
        async with session.get(url) as last:
            assert (last.status, last.headers["Connection"]) == (200, "close")
        assert not stopping.done()
        await clock.advance(2)


async def test_given_a_taken_port_then_the_error_names_the_server() -> None:
    server = HttpServer("first", health_app(), LOOPBACK)
    await server.start()
    second = HttpServer("second", health_app(), BindAddress("127.0.0.1", server.port))
    with pytest.raises(ConfigurationError, match="second"):
        await second.start()
    await server.stop()


@dataclass
class Reviews:
    """The API server's verdicts, and how often it was asked."""

    is_allowed: bool = True
    failures: list[OperatorError] = field(default_factory=list[OperatorError])
    asked: list[str] = field(default_factory=list[str])

    async def token(self, token: str) -> TokenVerdict:
        self.asked.append("token")
        if self.failures:
            raise self.failures.pop(0)
        is_known = token.startswith("good")
        return TokenVerdict(is_authenticated=is_known, owner=TokenOwner("scraper", "1", ("monitoring",)))

    async def access(self, question: AccessQuestion) -> AccessVerdict:
        assert question.owner == TokenOwner("scraper", "1", ("monitoring",))
        assert question.non_resource_attributes == {"path": "/metrics", "verb": "get"}
        self.asked.append("access")
        return AccessVerdict(is_allowed=self.is_allowed)


async def render() -> bytes:
    return b"up 1\n"


@pytest.mark.parametrize(
    ("header", "status", "text"),
    [
        pytest.param(None, 401, "Unauthorized", id="no-header"),
        pytest.param("Basic Zm9v", 401, "Unauthorized", id="not-a-bearer"),
        pytest.param("Bearer ", 401, "Unauthorized", id="no-token"),
        pytest.param("Bearer bad", 401, "Authentication failed", id="unknown-token"),
        pytest.param("bearer good", 200, "up 1\n", id="known-and-allowed"),
    ],
)
async def test_scrape_access(header: str | None, status: int, text: str) -> None:
    app = metrics_app(render, ScrapeAccess(Reviews(), ManualClock(), random.Random(1)))
    async with serving(app) as url:
        answer = await fetch(f"{url}/metrics", {"Authorization": header} if header else {})
    assert (answer.status, answer.text) == (status, text)


async def test_given_a_denied_user_then_the_answer_names_it_and_is_remembered_for_half_a_minute() -> None:
    clock, reviews = ManualClock(), Reviews(is_allowed=False)
    app = metrics_app(render, ScrapeAccess(reviews, clock, random.Random(1)))
    headers = {"Authorization": "Bearer good"}
    async with serving(app) as url:
        denied = await fetch(f"{url}/metrics", headers)
        reviews.is_allowed = True
        await clock.advance(29)
        still = await fetch(f"{url}/metrics", headers)
        await clock.advance(2)
        allowed = await fetch(f"{url}/metrics", headers)
    assert (denied.status, denied.text) == (403, "Authorization denied for user scraper")
    assert (still.status, allowed.status) == (403, 200)


async def test_given_an_allowed_user_then_verdicts_are_remembered_a_minute_and_five() -> None:
    clock, reviews = ManualClock(), Reviews()
    app = metrics_app(render, ScrapeAccess(reviews, clock, random.Random(1)))
    async with serving(app) as url:
        for _ in range(11):
            await fetch(f"{url}/metrics", {"Authorization": "Bearer good"})
            await clock.advance(30)
    assert (reviews.asked.count("token"), reviews.asked.count("access")) == (6, 2)


async def test_given_a_review_that_fails_then_it_is_tried_five_times_and_then_given_up() -> None:
    clock = ManualClock()
    reviews = Reviews(failures=[TransientError("away") for _ in range(5)])
    app = metrics_app(render, ScrapeAccess(reviews, clock, random.Random(1)))
    async with serving(app) as url, asyncio.TaskGroup() as group:
        failing = group.create_task(fetch(f"{url}/metrics", {"Authorization": "Bearer good"}), name="scrape")
        while not failing.done():
            await asyncio.sleep(0.005)
            await clock.advance(clock.next_due or 0)
        recovered = await fetch(f"{url}/metrics", {"Authorization": "Bearer good"})
    assert (failing.result().status, recovered.status) == (500, 200)
    assert reviews.asked.count("token") == 6
    assert clock.elapsed == pytest.approx(4.06 * 1.1, rel=0.1)


async def test_given_no_access_check_then_everyone_reads_metrics_in_the_text_format() -> None:
    async with serving(metrics_app(render, None)) as url:
        answer = await fetch(f"{url}/metrics")
    assert (answer.status, answer.text) == (200, "up 1\n")
    assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")


@dataclass
class CertificateNotes:
    reads: int = 0
    failures: int = 0
    expires_at: dt.datetime | None = None

    def certificate_read(self, expires_at: dt.datetime | None, /) -> None:
        self.reads += 1
        self.expires_at = expires_at

    def certificate_failed(self) -> None:
        self.failures += 1


async def shown_serial(url: str) -> int:
    """The serial number of the certificate that a new connection gets, and that HTTP/2 is not offered."""
    from cryptography import x509

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols(["h2", "http/1.1"])
    port = int(url.rpartition(":")[2])
    _, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    tls: ssl.SSLObject = writer.get_extra_info("ssl_object")
    assert tls.selected_alpn_protocol() == "http/1.1"
    shown = tls.getpeercert(binary_form=True)
    writer.close()
    await writer.wait_closed()
    assert shown is not None
    return x509.load_der_x509_certificate(shown).serial_number


def write_certificate(folder: Path) -> CertificateFiles:
    pem = certificates.self_signed_pem(SystemClock())
    split = pem.index(b"-----BEGIN PRIVATE KEY")
    files = CertificateFiles(folder / "tls.crt", folder / "tls.key")
    files.certificate.write_bytes(pem[:split])
    files.key.write_bytes(pem[split:])
    return files


async def test_given_a_self_signed_certificate_then_it_names_localhost_and_serves() -> None:
    from cryptography import x509

    pem = certificates.self_signed_pem(SystemClock())
    certificate = x509.load_pem_x509_certificate(pem)
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == ["localhost"]
    assert names.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]
    assert certificate.not_valid_after_utc > SystemClock().now() + dt.timedelta(days=300)
    async with serving(metrics_app(render, None), certificates.server_context(pem)) as url:
        assert (await fetch(f"{url}/metrics")).status == 200
        assert await shown_serial(url) == certificate.serial_number


async def test_given_new_files_then_new_connections_get_the_new_certificate(tmp_path: Path) -> None:
    notes, clock = CertificateNotes(), ManualClock()
    files = write_certificate(tmp_path)
    certificate = ReloadingCertificate(files, clock, notes)
    async with serving(metrics_app(render, None), certificate.context) as url:
        first = await shown_serial(url)
        certificate.reload()
        write_certificate(tmp_path)
        certificate.reload()
        second = await shown_serial(url)
        key = files.key.read_bytes()
        files.key.write_bytes(b"half a key")
        certificate.reload()
        third = await shown_serial(url)
        write_certificate(tmp_path)
        files.key.write_bytes(key)  # the new certificate with a key that is not its own
        certificate.reload()
        fourth = await shown_serial(url)
        files.key.unlink()
        certificate.reload()
    assert (first != second, second == third == fourth) == (True, True)
    assert (notes.reads, notes.failures) == (2, 3)
    assert notes.expires_at is not None
    assert notes.expires_at > SystemClock().now() - dt.timedelta(days=1)


def test_given_unreadable_files_at_the_start_then_it_is_a_configuration_error(tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "tls.crt", tmp_path / "tls.key")
    assert not files.exist
    with pytest.raises(ConfigurationError, match="unreadable"):
        ReloadingCertificate(files, ManualClock(), CertificateNotes())
    (tmp_path / "tls.crt").write_text("x")
    (tmp_path / "tls.key").write_text("y")
    with pytest.raises(ConfigurationError, match="unusable"):
        ReloadingCertificate(files, ManualClock(), CertificateNotes())
