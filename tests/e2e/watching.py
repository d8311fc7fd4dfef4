"""A real Prometheus over the cluster, with the rights and the settings that docs/monitoring.md names."""

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firebolt_local.testing.installer import NAMESPACE, RELEASE
from firebolt_local.testing.prometheus_server import Prometheus, running_prometheus
from firebolt_operator.api.names import PORT_WAKE_METRICS
from firebolt_operator.refs import Manifest
from tests.e2e.environment import Environment
from tests.support.hasty_rules import write_hasty_rules

ACCOUNT = "e2e-prometheus"
SECONDS: Final = 180.0
OPERATOR, GATEWAYS = "firebolt-operator", "firebolt-gateways"
JOBS: Final = {
    OPERATOR: (f"app.kubernetes.io/instance={RELEASE},control-plane=controller-manager", 8443),
    GATEWAYS: ("firebolt.io/component=gateway", PORT_WAKE_METRICS),
}
READER = f"""
apiVersion: v1
kind: ServiceAccount
metadata: {{name: {ACCOUNT}, namespace: {NAMESPACE}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: {ACCOUNT}}}
rules:
  - nonResourceURLs: [/metrics]
    verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: {ACCOUNT}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {ACCOUNT}}}
subjects: [{{kind: ServiceAccount, name: {ACCOUNT}, namespace: {NAMESPACE}}}]
"""


@dataclass(frozen=True, slots=True)
class Watching:
    """Debian's Prometheus is built without a way to ask Kubernetes for targets: they are told to it in files."""

    environment: Environment
    prometheus: Prometheus
    folder: Path

    def firing(self) -> set[str]:
        self.tell_targets()
        return {name for name, state in self.prometheus.alerts().items() if state == "firing"}

    def tell_targets(self) -> None:
        write_targets(self.environment, self.folder)

    async def until_scraped(self) -> None:
        async with asyncio.timeout(SECONDS):
            while await asyncio.to_thread(self.prometheus.healthy_jobs) != set(JOBS):  # noqa: ASYNC110
                await asyncio.sleep(1)

    async def until_firing(self, *alerts: str, seconds: float = SECONDS) -> None:
        await self._until(lambda found: set(alerts) <= found, f"{alerts} fire", seconds)

    async def until_silent(self, *alerts: str) -> None:
        await self._until(lambda found: not found & set(alerts), f"{alerts} are silent", SECONDS)

    async def until_told(self, query: str) -> None:
        """It has an answer: what Prometheus knows is as old as its last scrape."""
        async with asyncio.timeout(SECONDS):
            while not await asyncio.to_thread(self.prometheus.query, query):  # noqa: ASYNC110 - only Prometheus can tell
                await asyncio.sleep(1)

    async def until_calm(self) -> None:
        """Nothing fires, and nothing is about to: what a test has made may have looked unready a moment ago."""
        async with asyncio.timeout(SECONDS):
            while await asyncio.to_thread(self.prometheus.alerts):  # noqa: ASYNC110 - only Prometheus can tell
                await asyncio.sleep(1)

    async def _until(self, is_so: Callable[[set[str]], bool], what: str, seconds: float) -> None:
        ends_at = asyncio.get_running_loop().time() + seconds
        while not is_so(found := await asyncio.to_thread(self.firing)):
            if asyncio.get_running_loop().time() > ends_at:
                raise AssertionError(f"not within {seconds:g} s: {what}; firing: {sorted(found)}")
            await asyncio.sleep(1)


@contextmanager
def watching(environment: Environment, folder: Path) -> Generator[Watching]:
    environment.kubectl("apply", "--filename=-", stdin=READER)
    token = environment.kubectl("create", "token", ACCOUNT, f"--namespace={NAMESPACE}", "--duration=2h").strip()
    write_targets(environment, folder)
    with running_prometheus(folder, _config(folder, token, write_hasty_rules(folder))) as prometheus:
        yield Watching(environment, prometheus, folder)
    environment.kubectl("delete", "--filename=-", stdin=READER)


def write_targets(environment: Environment, folder: Path) -> None:
    for job, (labels, port) in JOBS.items():
        pods = environment.cluster.http.get(f"/api/v1/pods?labelSelector={labels}")["items"]
        targets = [_target(pod, port, job) for pod in pods if pod["status"].get("podIP")]
        unfinished = folder / f"{job}.new"
        unfinished.write_text(json.dumps(targets))
        unfinished.replace(folder / f"{job}.json")


def _target(pod: Manifest, port: int, job: str) -> Manifest:
    labels = {"pod": pod["metadata"]["name"]}
    if job == GATEWAYS:
        labels["namespace"] = pod["metadata"]["namespace"]
    return {"targets": [f"{pod['status']['podIP']}:{port}"], "labels": labels}


def _config(folder: Path, token: str, rules: Path) -> Manifest:
    def job(name: str, **more: Any) -> Manifest:
        return {"job_name": name, "file_sd_configs": [{"files": [str(folder / f"{name}.json")]}], **more}

    secured = {
        "scheme": "https",
        "honor_labels": True,
        "authorization": {"credentials": token},
        "tls_config": {"insecure_skip_verify": True},  # a certificate made at the start, as by default
    }
    return {
        "global": {"scrape_interval": "2s", "evaluation_interval": "2s"},
        "rule_files": [str(rules)],
        "scrape_configs": [job(OPERATOR, **secured), job(GATEWAYS)],
    }
