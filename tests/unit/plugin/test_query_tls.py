"""Does a query over TLS speak to nobody but the gateway that it means, and never in the clear by mistake?"""

import json
import ssl
import threading
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from tests.support.pki import Authority, Leaf, server_side
from tests.support.plugin import asked
from tests.unit.plugin.conftest import Played
from tests.unit.plugin.test_forwarding import Gateway, handler, rules

CA = Authority()
SPEAKS_TLS: Manifest = {"gatewayTLS": {}}


@pytest.fixture
def gateway(tmp_path: Path) -> Iterator[ThreadingHTTPServer]:
    """Asks for a certificate of the same authority, and takes those who show none."""

    class Own(Gateway):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    context = server_side(tmp_path, CA.leaf("i1-gateway"))
    context.load_verify_locations(cadata=CA.pem)
    context.verify_mode = ssl.CERT_OPTIONAL
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ca(tmp_path: Path) -> str:
    return written(tmp_path / "ca.pem", CA.pem)


def written(path: Path, text: str) -> str:
    path.write_text(text)
    return str(path)


def test_the_gateway_is_known_by_its_name(
    played: Played, tmp_path: Path, gateway: ThreadingHTTPServer, ca: str
) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1], status=SPEAKS_TLS))
    assert json.loads(plugin.says("query", "e1", "SELECT 1", "-o", "json", "--ca", ca))["data"][0] == [1, "a b"]
    assert handler(gateway).questions == (("e1", "SELECT 1", ""),)
    other = plugin.refuses("query", "e1", "SELECT 1", "--ca", ca, "--server-name", "other.example.com")
    assert other.startswith("the gateway's certificate is not believed: Hostname mismatch")
    assert "--server-name what it is for" in other
    assert len(handler(gateway).questions) == 1


def test_whom_this_machine_does_not_believe_is_told_nothing(
    played: Played, tmp_path: Path, gateway: ThreadingHTTPServer
) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1], status=SPEAKS_TLS))
    assert "certificate is not believed: " in plugin.refuses("query", "e1", "SELECT 1")
    assert handler(gateway).questions == ()


def test_a_certificate_of_ones_own_is_shown(
    played: Played, tmp_path: Path, gateway: ThreadingHTTPServer, ca: str
) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1], status=SPEAKS_TLS))
    files = shown(tmp_path, CA.leaf(common="me"))
    assert plugin.says("query", "e1", "SELECT 1", "--ca", ca, *files)
    strange = shown(tmp_path, Authority("strangers").leaf(common="me"))
    assert plugin.refuses("query", "e1", "SELECT 1", "--ca", ca, *strange).startswith("no answer: ")


def shown(folder: Path, leaf: Leaf) -> tuple[str, ...]:
    return ("--cert", written(folder / "me.pem", leaf.certificate), "--key", written(folder / "me.key", leaf.key))


@pytest.mark.parametrize(
    ("instance", "typed", "told"),
    [
        pytest.param(
            {"spec": {"tls": {"gateway": {"enabled": True}}}},
            (),
            'TLS of the gateway of instance "i1" is being turned on, and nobody is let in:'
            " kubectl firebolt explain instance/i1 says how far it is",
            id="about-to-speak-tls",
        ),
        pytest.param(
            {},
            ("--ca", "ca.pem"),
            'the gateway of instance "i1" speaks plain HTTP: leave --ca, --cert, --key and --server-name out if'
            " you mean that",
            id="never-in-the-clear-by-mistake",
        ),
        pytest.param(
            {"status": SPEAKS_TLS},
            ("--ca", "/nowhere"),
            "--ca: /nowhere cannot be read as PEM: No such file or directory",
            id="no-such-file",
        ),
        pytest.param(
            {"status": SPEAKS_TLS},
            ("--cert", "/nowhere"),
            "--cert, --key: /nowhere and its key cannot be read as PEM: No such file or directory",
            id="no-such-certificate",
        ),
        pytest.param(
            {"status": SPEAKS_TLS},
            ("--key", "/nowhere"),
            "--key: a key without a certificate proves nothing: say --cert",
            id="a-key-alone",
        ),
    ],
)
def test_mistakes_reach_nobody(
    played: Played, tmp_path: Path, instance: dict[str, dict[str, object]], typed: tuple[str, ...], told: str
) -> None:
    plugin = played(*rules(tmp_path, 1, **instance))
    assert plugin.refuses("query", "e1", "SELECT 1", *typed) == told
    assert not any("port-forward" in line for line in asked(plugin.kubectl))


def test_who_needs_a_login_is_told_how(played: Played, tmp_path: Path, gateway: ThreadingHTTPServer, ca: str) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1], status=SPEAKS_TLS))
    handler(gateway).reply = (401, "unauthorized")
    told = plugin.refuses("query", "e1", "SELECT 1", "--ca", ca)
    assert told.startswith("HTTP 401: unauthorized; the instance asks for a login")


def test_printed_commands_speak_tls_where_they_are_told_to(played: Played) -> None:
    told = played().says("query", "e1", "SELECT 1", "--instance", "i1", "--ca", "ca.pem", "--print-commands")
    assert told.splitlines()[-1] == (
        "curl https://i1-gateway:PORT/ --connect-to i1-gateway:PORT:localhost:PORT --cacert ca.pem"
        " -H 'X-Firebolt-Engine: e1' --data-binary 'SELECT 1'"
    )
