"""How does a test decide what a simulated pod answers when it is scraped?"""

import http.client
import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import msgspec

from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.cluster.unix_http import unix_request
from firebolt_local.errors import LocalError

SOCKET = "pods.sock"
ORDERS = "/orders"
REQUESTS = "/requests"
DEFAULT = "default"


class Mode(StrEnum):
    ANSWER = "answer"
    BLACK_HOLE = "black-hole"  # take the request, never answer
    ERROR = "error"  # 500
    GARBAGE = "garbage"  # 200 with bytes that are no metrics
    REFUSE = "refuse"  # no connection


class Behaviour(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    running: float = 0
    suspended: float = 0
    mode: Mode = Mode.ANSWER
    delay_seconds: float = 0
    body: str = ""  # said instead of the two gauges


@dataclass(frozen=True, slots=True)
class ScrapeControl:
    """Orders are for one pod (by its address, which no other pod ever gets) or for all that have none of their own."""

    folder: Path
    http: KubeHttp

    def set(self, namespace: str, pod: str, behaviour: Behaviour) -> None:
        address = self.http.get(f"/api/v1/namespaces/{namespace}/pods/{pod}")["status"].get("podIP")
        if not address:
            raise LocalError(f"pod {namespace}/{pod} has no address yet; wait until it runs")
        self._order("PUT", f"{ORDERS}/{address}", msgspec.to_builtins(behaviour))

    def set_default(self, behaviour: Behaviour) -> None:
        self._order("PUT", f"{ORDERS}/{DEFAULT}", msgspec.to_builtins(behaviour))

    def reset(self) -> None:
        """Forget all orders and counts: every pod is idle and answers."""
        self._order("DELETE", ORDERS)

    def requests(self) -> dict[str, int]:
        """How often each pod was scraped since the last reset, by address."""
        counts: dict[str, int] = json.loads(self._order("GET", REQUESTS))
        return counts

    def is_up(self) -> bool:
        try:
            self._order("GET", REQUESTS)
        except OSError:
            return False
        return True

    def _order(self, method: str, path: str, body: object = None) -> bytes:
        status, answer = unix_request(self.folder / SOCKET, method, path, body)
        if status != http.client.OK:
            raise LocalError(f"the scrape server refused {method} {path}: {answer.decode()}")
        return answer
