"""A webhook of somebody else: it lets everything through, but not before it is told to."""

import json
import ssl
import threading
from base64 import b64encode
from collections.abc import Generator
from contextlib import contextmanager
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from firebolt_operator.admission.pki import new_authority, new_serving
from firebolt_operator.refs import Manifest
from firebolt_operator.runtime.clock import SystemClock
from tests.api.admission.place import CONFIGURATIONS, Place, engine

LONGEST = 25.0  # seconds; the API server waits for thirty


class Holding:
    def __init__(self) -> None:
        self.asked, self.may_go = threading.Event(), threading.Event()

    def answer(self, review: Manifest) -> Manifest:
        self.asked.set()
        self.may_go.wait(LONGEST)
        response = {"uid": review["request"]["uid"], "allowed": True}
        return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


@contextmanager
def holding_engines(place: Place, folder: Path) -> Generator[Holding]:
    """Every engine that is made there waits, from now on."""
    holding = Holding()
    now, day = SystemClock().now(), timedelta(days=1)
    authority = new_authority(now, day)
    serving = new_serving(authority, frozenset({"127.0.0.1"}), now, day)
    (folder / "pair.pem").write_bytes(serving.certificate + serving.key)
    server = _server(holding, folder / "pair.pem")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    path = f"{CONFIGURATIONS}/validatingwebhookconfigurations"
    name = f"{place.namespace}-holding"
    url = f"https://127.0.0.1:{server.server_address[1]}/"
    place.plane.http.create(path, _configuration(name, place.namespace, url, authority.certificate))
    try:
        holding.may_go.set()
        place.plane.wait_until(lambda: _is_asked(place, holding), "the API server asks the other webhook")
        holding.asked.clear()
        holding.may_go.clear()
        yield holding
    finally:
        holding.may_go.set()
        place.plane.http.delete(f"{path}/{name}")
        server.shutdown()
        server.server_close()
        thread.join()


def _is_asked(place: Place, holding: Holding) -> bool:
    place.create(engine("probe"), dry_run=True)
    return holding.asked.is_set()


def _configuration(name: str, namespace: str, url: str, authority: bytes) -> Manifest:
    rule = {
        "apiGroups": ["compute.firebolt.io"],
        "apiVersions": ["v1alpha1"],
        "resources": ["fireboltengines"],
        "operations": ["CREATE"],
    }
    here = {"key": "kubernetes.io/metadata.name", "operator": "In", "values": [namespace]}
    webhook = {
        "name": "holding.example.com",
        "clientConfig": {"url": url, "caBundle": b64encode(authority).decode()},
        "rules": [rule],
        "namespaceSelector": {"matchExpressions": [here]},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "timeoutSeconds": 30,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name},
        "webhooks": [webhook],
    }


def _server(holding: Holding, pair: Path) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            review = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            body = json.dumps(holding.answer(review)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Nobody reads it."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    return server
