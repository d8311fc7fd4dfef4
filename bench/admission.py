"""What do webhooks cost? Dry-run creations of engines through a real API server, without webhooks and with them.

    python bench/admission.py                      # 200 a second for 60 seconds
    python bench/admission.py --rate 400 --seconds 20

Prints how long an answer takes (median and the slowest hundredth), how long the API server itself says that it waited
for the webhook, what the webhook takes when it is asked directly at the same rate, and how many admissions one core
carries. The operator's certificate changes meanwhile, and no request may be lost by it.

Load, API server, etcd and operator share this machine: where it says that the cores were busy, answers waited for a
core, and not for each other.
"""

import argparse
import asyncio
import json
import os
import ssl
import sys
import time
from base64 import b64decode
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp
import uvloop

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.support import cluster
from bench.support.histogram import Histogram, histogram
from bench.support.machine import a_watched_machine, busy_seconds
from bench.support.operator_process import OperatorProcess, start_operator
from bench.support.report import Report, percentile
from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.cluster.ports import free_port
from firebolt_operator.admission.server import webhook_path
from firebolt_operator.admission.webhooks import VALIDATE
from firebolt_operator.api.names import ANNOTATION_TRUST, GROUP, TRUST_BY_OPERATOR, VERSION
from firebolt_operator.refs import Manifest
from tests.support.crds import install_crds

NAMESPACE: Final = "default"
NAME: Final = "bench-admission"
WEBHOOK: Final = "vfireboltengine.compute.firebolt.io"
ENGINES: Final = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/fireboltengines"
CLASSES: Final = f"/apis/{GROUP}/{VERSION}/namespaces/{NAMESPACE}/fireboltengineclasses"
CONFIGURATIONS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
SECRET: Final = f"/api/v1/namespaces/{NAMESPACE}/secrets/{NAME}"
CERTIFICATE_LIFE: Final = "60s"  # a third of it before its end it is replaced
IN_FLIGHT: Final = 16
CONNECTIONS: Final = 64  # who waits for one waits on the clock: a burst of handshakes would be measured otherwise
MOST: Final = 20.0  # milliseconds
HTTP_OK: Final = range(200, 300)
WAITED: Final = "apiserver_admission_webhook_admission_duration_seconds"


def engine() -> Manifest:
    """With a class, which is read live, and a template of some size."""
    container = {"name": "engine", "env": [{"name": f"SETTING_{number}", "value": "x" * 20} for number in range(30)]}
    side = {"name": "side", "image": "example.com/side:1", "volumeMounts": [{"name": "own", "mountPath": "/own"}]}
    pod = {"containers": [container, side], "volumes": [{"name": "own", "emptyDir": {}}], "nodeSelector": {"a": "b"}}
    spec = {"instanceRef": "inst", "replicas": 0, "engineClassRef": "shared", "template": {"spec": pod}}
    return {"apiVersion": f"{GROUP}/{VERSION}", "kind": "FireboltEngine", "metadata": {"name": "bench"}, "spec": spec}


def review() -> bytes:
    request = {
        "uid": "bench",
        "operation": "CREATE",
        "resource": {"resource": "fireboltengines"},
        "namespace": NAMESPACE,
        "name": "bench",
        "userInfo": {"username": "alice"},
        "object": engine(),
    }
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": request}).encode()


@dataclass
class Answers:
    seconds: list[float] = field(default_factory=list[float])
    outcomes: Counter[str] = field(default_factory=Counter[str])

    def at(self, share: float) -> float:
        return 1000 * percentile(sorted(self.seconds), share)

    @property
    def lost(self) -> int:
        return sum(count for outcome, count in self.outcomes.items() if outcome != "ok")

    def __str__(self) -> str:
        return f"p50 {self.at(0.5):7.2f} ms  p99 {self.at(0.99):7.2f} ms  {dict(self.outcomes)}"


@dataclass(frozen=True, slots=True)
class Asked:
    """Where requests go, and what they say."""

    session: aiohttp.ClientSession
    url: str
    body: bytes
    context: ssl.SSLContext

    async def once(self, answers: Answers) -> None:
        began = time.perf_counter()
        headers = {"Content-Type": "application/json"}
        try:
            async with self.session.post(self.url, data=self.body, headers=headers, ssl=self.context) as answer:
                text = await answer.read()
                answers.outcomes["ok" if answer.status in HTTP_OK else f"{answer.status} {text[-160:]!r}"] += 1
        except aiohttp.ClientError as err:
            answers.outcomes[type(err).__name__] += 1
        answers.seconds.append(time.perf_counter() - began)

    async def at_rate(self, rate: float, seconds: float) -> Answers:
        """Open loop: a slow answer does not keep the next request back."""
        answers, began = Answers(), time.perf_counter()
        async with asyncio.TaskGroup() as group:
            for number in range(int(rate * seconds)):
                await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
                group.create_task(self.once(answers), name="request")
        return answers

    async def as_fast_as_possible(self, count: int) -> float:
        """Answers in a second."""
        answers, numbers, began = Answers(), iter(range(count)), time.perf_counter()

        async def worker() -> None:
            for _ in numbers:
                await self.once(answers)

        async with asyncio.TaskGroup() as group:
            for _ in range(IN_FLIGHT):
                group.create_task(worker(), name="worker")
        return count / (time.perf_counter() - began)


def start(plane: ControlPlane, port: int) -> OperatorProcess:
    return start_operator(
        plane,
        [
            f"--namespaces={NAMESPACE}",
            "--leader-elect=false",
            "--metrics-bind-address=0",
            "--enable-webhooks=true",
            f"--webhook-bind-address=127.0.0.1:{port}",
            "--webhook-names=127.0.0.1",
            f"--webhook-secret={NAMESPACE}/{NAME}",
            f"--webhook-configuration={NAME}",
            f"--webhook-cert-life={CERTIFICATE_LIFE}",
        ],
    )


def install(plane: ControlPlane, port: int) -> None:
    rule = {"apiGroups": [GROUP], "apiVersions": [VERSION], "resources": ["fireboltengines"], "operations": ["CREATE"]}
    webhook = {
        "name": WEBHOOK,
        "clientConfig": {"url": f"https://127.0.0.1:{port}{webhook_path(VALIDATE, 'fireboltengine')}"},
        "rules": [rule],
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    }
    kind = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
    metadata = {"name": NAME, "annotations": {ANNOTATION_TRUST: TRUST_BY_OPERATOR}}
    plane.http.create(CONFIGURATIONS, {**kind, "metadata": metadata, "webhooks": [webhook]})


def is_judging(plane: ControlPlane) -> bool:
    """Only a webhook finds out that a class is missing."""
    bad = engine()
    bad["spec"]["engineClassRef"] = "nowhere"
    status, answer = plane.http.text("POST", f"{ENGINES}?dryRun=All", json.dumps(bad))
    return status == 403 and "Not found" in answer


def waited(plane: ControlPlane) -> Histogram:
    return histogram(plane.http.text("GET", "/metrics")[1], WAITED, {"name": WEBHOOK})


def secret(plane: ControlPlane) -> dict[str, bytes]:
    return {key: b64decode(text) for key, text in plane.http.get(SECRET)["data"].items()}


@dataclass(frozen=True, slots=True)
class Bench:
    plane: ControlPlane
    rate: float
    seconds: float
    port: int
    report: Report = field(default_factory=Report)

    async def run(self) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=CONNECTIONS)) as session:
            url, body = f"{self.plane.server}{ENGINES}?dryRun=All", json.dumps(engine()).encode()
            through = Asked(session, url, body, self.plane.http.tls)
            await through.at_rate(self.rate, 2)
            busy = busy_seconds()
            without = await through.at_rate(self.rate, self.seconds)
            print(f"without webhooks, {self.rate:g}/s: {without}; {self._cores(busy)}")
            operator = start(self.plane, self.port)
            try:
                install(self.plane, self.port)
                await asyncio.to_thread(self.plane.wait_until, lambda: is_judging(self.plane), "the operator judges")
                await self._through(operator, through, without)
                await self._alone(operator, session)
            finally:
                operator.stop()

    async def _through(self, operator: OperatorProcess, through: Asked, without: Answers) -> None:
        first, before, asked, busy = (
            secret(self.plane),
            operator.usage().cpu_seconds,
            waited(self.plane),
            busy_seconds(),
        )
        told = await through.at_rate(self.rate, self.seconds)
        used, last = operator.usage().cpu_seconds - before, secret(self.plane)
        changed = first["tls.crt"] != last["tls.crt"]
        print(f"with webhooks,    {self.rate:g}/s: {told}; {self._cores(busy)}; certificate changed: {changed}")
        print(f"the operator used {1000 * used / len(told.seconds):.2f} ms CPU for each")
        waits = waited(self.plane) - asked
        median, slowest = 1000 * waits.quantile(0.5), 1000 * waits.quantile(0.99)
        print(f"the API server waited for it: p50 {median:.1f} ms  p99 {slowest:.1f} ms ({waits.count:.0f} calls)")
        self.report.add("added to the median of an answer", told.at(0.5) - without.at(0.5), MOST, "ms")
        self.report.add("added to the slowest hundredth", told.at(0.99) - without.at(0.99), MOST, "ms")
        self.report.add("requests lost while certificates change", told.lost, 0)

    def _cores(self, since: float) -> str:
        return f"{(busy_seconds() - since) / self.seconds:.2f} of {os.cpu_count()} cores busy"

    async def _alone(self, operator: OperatorProcess, session: aiohttp.ClientSession) -> None:
        context = ssl.create_default_context(cadata=secret(self.plane)["ca.crt"].decode())
        url = f"https://127.0.0.1:{self.port}{webhook_path(VALIDATE, 'fireboltengine')}"
        direct = Asked(session, url, review(), context)
        alone = await direct.at_rate(self.rate, self.seconds / 2)
        print(f"webhook alone,    {self.rate:g}/s: {alone}")
        before, count = operator.usage().cpu_seconds, int(self.rate * 20)
        fastest = await direct.as_fast_as_possible(count)
        each = (operator.usage().cpu_seconds - before) / count
        print(f"webhook alone, {IN_FLIGHT} in flight: {fastest:.0f}/s")
        print(f"one core carries {1 / each:.0f}/s ({1000 * each:.2f} ms CPU for each)")
        self.report.add(f"the webhook's own slowest hundredth at {self.rate:g}/s", alone.at(0.99), MOST, "ms")


async def measure(plane: ControlPlane, rate: float, seconds: float) -> None:
    async with a_watched_machine() as machine:
        bench = Bench(plane, rate, seconds, free_port())
        await bench.run()
        print(f"the machine was {machine.slowdown():.1f} times slower than at its best")
    bench.report.show()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rate", type=float, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    with cluster.a_control_plane() as plane:
        install_crds(plane.kubeconfig)
        kind = {"apiVersion": f"{GROUP}/{VERSION}", "kind": "FireboltEngineClass"}
        plane.wait_until(lambda: plane.http.text("GET", CLASSES)[0] == 200, "our kinds")
        plane.http.create(CLASSES, {**kind, "metadata": {"name": "shared"}, "spec": {"template": {}}})
        uvloop.run(measure(plane, arguments.rate, arguments.seconds))
    return 0


if __name__ == "__main__":
    sys.exit(main())
