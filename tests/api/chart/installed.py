"""The operator as the chart installs it: its account, its rights, its arguments; only its container is a process."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from tests.support.chart import CHART, RELEASE, arguments, helm, rendered
from tests.support.kubectl import kubectl

SYSTEM = "firebolt-system"
ACCOUNT = f"system:serviceaccount:{SYSTEM}:{RELEASE}"
GROUPS = ("system:serviceaccounts", f"system:serviceaccounts:{SYSTEM}", "system:authenticated")


@dataclass(frozen=True, slots=True)
class Installed:
    plane: ControlPlane
    process: "subprocess.Popen[bytes]"
    metrics_port: int
    since: int  # bytes of the audit log that were there before

    def kubectl(self, *words: str, stdin: str | None = None) -> str:
        return kubectl(self.plane.kubeconfig, words, stdin=stdin)

    def requests(self) -> "Counter[tuple[str, str, int]]":
        """Verb, resource and answer of everything that the account asked for."""
        lines = map(json.loads, self.plane.audit_log.read_bytes()[self.since :].splitlines())
        return Counter(_request(line) for line in lines if line.get("user", {}).get("username") == ACCOUNT)


def _request(line: dict[str, Any]) -> tuple[str, str, int]:
    what = line.get("objectRef", {})
    resource = "/".join(filter(None, (what.get("apiGroup"), what.get("resource"), what.get("subresource"))))
    return line["verb"], resource or line["requestURI"], line["responseStatus"]["code"]


@contextmanager
def installed(plane: ControlPlane, values: dict[str, Any], log: Path) -> Generator[Installed]:
    _install(plane, values)
    webhook = free_port()
    _ask_on_loopback(plane, webhook)
    with running(plane, values, log, webhook=webhook) as operator:
        yield operator
        assert operator.process.poll() is None, log.read_text()[-2000:]


@contextmanager
def running(plane: ControlPlane, values: dict[str, Any], log: Path, *, webhook: int = 0) -> Generator[Installed]:
    """On a cluster where somebody has installed the chart; it ends when somebody takes its rights away."""
    health, metrics = free_port(), free_port()
    words = [
        *arguments(rendered(values, namespace=SYSTEM)),
        f"--kubeconfig={plane.kubeconfig_for(ACCOUNT, GROUPS)}",
        f"--leader-elect-namespace={SYSTEM}",
        f"--health-probe-bind-address=127.0.0.1:{health}",
        f"--metrics-bind-address=127.0.0.1:{metrics}",
        f"--webhook-bind-address=127.0.0.1:{webhook}",
        "--webhook-names=127.0.0.1",
    ]
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PYTHONDONTWRITEBYTECODE": "1"}
    since = plane.audit_log.stat().st_size
    with log.open("wb") as sink:
        process = subprocess.Popen(
            [sys.executable, "-m", "firebolt_operator.main", *words], env=environment, stdout=sink, stderr=sink
        )
    try:
        yield Installed(plane, process, metrics, since)
    finally:
        process.terminate()
        process.wait(timeout=30)


def _install(plane: ControlPlane, values: dict[str, Any]) -> None:
    done = helm(
        *("upgrade", RELEASE, str(CHART), "--install", "--namespace", SYSTEM, "--create-namespace"),
        *("--wait", "--timeout", "60s", "--kubeconfig", str(plane.kubeconfig)),
        values=values,
    )
    assert done.returncode == 0, done.stderr
    assert f"rollout status deployment/{RELEASE}" in done.stdout


def _ask_on_loopback(plane: ControlPlane, port: int) -> None:
    """Where the webhooks are installed: no pod answers for their Service here."""
    for kind in ("validating", "mutating"):
        path = f"/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/{RELEASE}"
        status, answer = plane.http.text("GET", path)
        if status != HTTPStatus.OK:
            continue
        configuration = json.loads(answer)
        for webhook in configuration["webhooks"]:
            where = webhook["clientConfig"].pop("service")
            webhook["clientConfig"]["url"] = f"https://127.0.0.1:{port}{where['path']}"
        status, answer = plane.http.text("PUT", path, json.dumps(configuration))
        assert status == HTTPStatus.OK, answer
