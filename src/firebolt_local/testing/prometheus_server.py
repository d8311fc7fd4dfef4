"""A real Prometheus on loopback, for tests and pictures: it scrapes what it is told, and is asked over HTTP."""

import json
import math
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.errors import LocalError
from firebolt_local.testing.prometheus_programs import provide_prometheus

START_SECONDS: Final = 60.0
_STOP_SECONDS: Final = 30.0
_ANSWER_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Line:
    """One series of an answer."""

    labels: Mapping[str, str]
    points: tuple[tuple[float, float], ...]  # instants and values; without those that are no numbers


@dataclass(frozen=True, slots=True)
class Prometheus:
    url: str

    def query(self, expression: str) -> list[Line]:
        """Now."""
        return [_line(each["metric"], [each["value"]]) for each in self._result("query", {"query": expression})]

    def query_range(self, expression: str, *, start: float, end: float, step: float) -> list[Line]:
        asked = {"query": expression, "start": str(start), "end": str(end), "step": str(step)}
        return [_line(each["metric"], each["values"]) for each in self._result("query_range", asked)]

    def alerts(self) -> dict[str, str]:
        """Those that are pending or firing, by name; firing if any of that name is."""
        found: dict[str, str] = {}
        for alert in self._get("alerts", {})["alerts"]:
            name = str(alert["labels"]["alertname"])
            if found.get(name) != "firing":
                found[name] = str(alert["state"])
        return found

    def healthy_jobs(self) -> set[str]:
        """Whose last scrape went well."""
        targets = self._get("targets", {})["activeTargets"]
        return {target["labels"]["job"] for target in targets if target["health"] == "up"}

    def is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/-/ready", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    def _result(self, path: str, asked: Mapping[str, str]) -> list[dict[str, Any]]:
        return list(self._get(path, asked)["result"])

    def _get(self, path: str, asked: Mapping[str, str]) -> dict[str, Any]:
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(asked)}"
        try:
            with urllib.request.urlopen(url, timeout=_ANSWER_SECONDS) as answer:
                return dict(json.load(answer)["data"])
        except urllib.error.HTTPError as err:
            raise LocalError(f"Prometheus refuses {asked}: {err.read().decode(errors='replace')}") from err


def _line(labels: Mapping[str, str], values: Sequence[tuple[float, str]]) -> Line:
    points = ((float(at), float(value)) for at, value in values)
    return Line(labels, tuple((at, value) for at, value in points if math.isfinite(value)))


@contextmanager
def running_prometheus(folder: Path, config: Mapping[str, Any]) -> Generator[Prometheus]:
    """The configuration is that of prometheus.yml; data and log stay in the folder."""
    program, port = provide_prometheus().prometheus, free_port()
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / "prometheus.yml"
    written.write_text(json.dumps(config))  # which is YAML too
    command = [
        str(program),
        f"--config.file={written}",
        f"--storage.tsdb.path={folder / 'data'}",
        f"--web.listen-address={LOOPBACK}:{port}",
        "--storage.tsdb.retention.time=1d",
        "--log.level=warn",
    ]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        prometheus = Prometheus(f"http://{LOOPBACK}:{port}")
        try:
            _wait(prometheus, process, folder / "log")
            yield prometheus
        finally:
            process.terminate()
            try:
                process.wait(_STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def _wait(prometheus: Prometheus, process: "subprocess.Popen[bytes]", log: Path) -> None:
    ends_at = time.monotonic() + START_SECONDS
    while not prometheus.is_ready():
        if process.poll() is not None or time.monotonic() > ends_at:
            raise LocalError(f"Prometheus did not start: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(0.1)
