"""Does a port lead where it should, does a query get its answer, and does nothing stay behind?"""

import json
import signal
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.kubectl import forward
from tests.support.child_processes import hears_interrupts
from tests.support.plugin import Plugin, an_engine, asked, played_kubectl
from tests.unit.plugin.conftest import Played

RESULT = {
    "meta": [{"name": "n", "type": "int"}, {"name": "word", "type": "text"}],
    "data": [[1, "a b"], [22, None], [3.5, "two\nlines"]],
}


class Gateway(BaseHTTPRequestHandler):
    """Says what it was asked, or what a test wants."""

    reply: tuple[int, str] = (200, json.dumps(RESULT))
    questions: tuple[tuple[str, str, str], ...] = ()

    def do_POST(self) -> None:
        sql = self.rfile.read(int(self.headers["Content-Length"])).decode()
        header = self.headers.get("Authorization", "")
        type(self).questions = (*self.questions, (self.headers["X-Firebolt-Engine"], sql, header))
        status, body = self.reply
        self.send_response(status)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name
        del format, args


@pytest.fixture
def gateway() -> Iterator[ThreadingHTTPServer]:
    class Own(Gateway):
        pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Own)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def instance_file(folder: Path, **fields: Manifest) -> Path:
    place = folder / "instance.json"
    place.write_text(json.dumps({"metadata": {"name": "i1"}, "spec": {}, "status": {}} | fields))
    return place


def rules(folder: Path, port: int, **instance: Manifest) -> list[tuple[str, str]]:
    (folder / "engine.json").write_text(json.dumps(an_engine()))
    bound = f"echo 'Forwarding from [::1]:1 -> 8080'; echo 'Forwarding from 127.0.0.1:{port} -> 8080'"
    return [
        ("get fireboltengine", f"cat {folder}/engine.json; exit 0"),
        ("get fireboltinstance", f"cat {instance_file(folder, **instance)}; exit 0"),
        ("port-forward svc/i1-gateway :80", f"{bound}; exec sleep 600"),
    ]


def handler(gateway: ThreadingHTTPServer) -> type[Gateway]:
    found = gateway.RequestHandlerClass
    assert isinstance(found, type)
    assert issubclass(found, Gateway)
    return found


def test_a_query_goes_through_the_gateway(played: Played, tmp_path: Path, gateway: ThreadingHTTPServer) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1]))
    assert plugin.says("query", "e1", "SELECT 1") == 'n     word\n1     a b\n22    NULL\n3.5   "two\\nlines"\n'
    assert json.loads(plugin.says("query", "e1", "-o", "json", stdin="SELECT 2")) == RESULT
    assert plugin.says("query", "e1", "x", "-o", "yaml", "--header", "Authorization: Bearer t").startswith("data:\n")
    assert handler(gateway).questions == (("e1", "SELECT 1", ""), ("e1", "SELECT 2", ""), ("e1", "x", "Bearer t"))


def test_what_the_gateway_refuses_is_told(played: Played, tmp_path: Path, gateway: ThreadingHTTPServer) -> None:
    plugin = played(*rules(tmp_path, gateway.server_address[1]))
    handler(gateway).reply = (404, "no such engine\n")
    assert plugin.refuses("query", "e1", "SELECT 1") == "HTTP 404: no such engine"
    handler(gateway).reply = (200, "plain words")
    assert plugin.says("query", "e1", "SELECT 1") == "plain words\n"


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        (("query", "e1", " "), "the query is empty: give it as an argument, or on standard input"),
        (("query", "e1"), "the query is empty: give it as an argument, or on standard input"),
        (("query", "e1", "x", "--header", "none"), '--header: "none" is not like Name: value'),
        (("query", "e1", "x", "-o", "wide"), '-o/--output: "wide" is not one of table, json, yaml'),
        (("query", "e1", "x", "--print-commands"), "say --instance"),
        (("instance", "port-forward"), "Missing argument 'INSTANCE'."),
        (("engine", "port-forward", "e1", "--local-port", "70000"), "Invalid value for '--local-port'"),
        (("record", "e1", "--page", "/nowhere/x.html"), "--page: /nowhere/x.html cannot be written: No such file"),
        (("record", "e1", "--for", "soon"), '--for: "soon" is not a duration'),
    ],
)
def test_mistakes(played: Played, typed: tuple[str, ...], told: str) -> None:
    plugin = played()
    assert told in plugin.refuses(*typed)
    assert asked(plugin.kubectl) == []


def test_a_forward_that_fails_at_once(played: Played, tmp_path: Path) -> None:
    failing = ("port-forward", "echo 'services \"i1-gateway\" not found' >&2; exit 1")
    plugin = played(*rules(tmp_path, 1)[:2], failing)
    done = plugin.run("instance", "port-forward", "i1")
    assert (done.code, done.stdout) == (1, "")
    assert done.stderr == (
        'services "i1-gateway" not found\n'
        "error: kubectl port-forward ended before it was ready: exit status 1; see its message above\n"
    )


def test_a_forward_that_is_never_ready(played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "_SECONDS", 0.2)
    plugin = played(*rules(tmp_path, 1)[:2], ("port-forward", "exec sleep 600"))
    assert plugin.refuses("instance", "port-forward", "i1") == "kubectl port-forward was not ready within 0.2 s"


@pytest.fixture
def interruptible() -> Iterator[None]:
    with hears_interrupts():
        yield


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    ("typed", "instance", "words"),
    [
        (("instance", "port-forward", "i1"), {}, "Forwarding on http://localhost:4711"),
        (("instance", "port-forward", "i1"), {"status": {"gatewayTLS": {}}}, "Forwarding on https://localhost:4711"),
        (
            ("instance", "port-forward", "i1"),
            {"spec": {"tls": {"gateway": {"enabled": True}}}},
            "Forwarding on localhost:4711",
        ),
        (("engine", "port-forward", "e1"), {}, "Forwarding on http://localhost:4711"),
    ],
)
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_forward_is_ended_with_ctrl_c(
    tmp_path: Path, typed: tuple[str, ...], instance: Manifest, words: str, ending: signal.Signals
) -> None:
    body = f"echo $$ > {tmp_path}/pid; echo 'Forwarding from 127.0.0.1:4711 -> 1'; exec sleep 600"
    plugin = Plugin(played_kubectl(tmp_path, *rules(tmp_path, 1, **instance)[:2], ("port-forward svc/", body)))
    command, environment = plugin.command(*typed), plugin.variables()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert [process.stdout.readline().rstrip() for _ in range(2)] == [words, "Ctrl+C to stop."]
        process.send_signal(ending)
        assert process.wait(60) == 0
    assert not Path(f"/proc/{(tmp_path / 'pid').read_text().strip()}/cmdline").exists()
