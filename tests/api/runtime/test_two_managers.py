"""Two managers, one lease: a frozen leader writes nothing once another leads, and a stopped one lets go at once."""

import json
import os
import random
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import IO, Final

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.runtime.load_manager import LEASE_NAME

NAMESPACE: Final = "default"
ROUNDS: Final = 20
HANG_SECONDS: Final = 120.0  # a lease of three seconds needs a fraction, on a busy machine as well
WRITES: Final = frozenset({"create", "update", "patch", "delete"})
ROOT: Final = Path(__file__).parents[3]


@dataclass
class ManagerProcess:
    user: str
    process: subprocess.Popen[str]
    log: Path

    def wait_until_leading(self) -> None:
        assert self.process.stdout is not None
        line = _read_line(self.process.stdout)
        assert line == "leading\n", f"{self.user}: {line!r}\n{self.log.read_text()}"

    def exit_code(self) -> int:
        return self.process.wait(timeout=HANG_SECONDS)


def _read_line(stream: IO[str]) -> str:
    ready, _, _ = select.select([stream], [], [], HANG_SECONDS)
    return stream.readline() if ready else "nothing in time"


@contextmanager
def managers(
    plane: ControlPlane, *, pass_seconds: float = 0.0, lease_seconds: float = 3.0
) -> Generator[Callable[[], ManagerProcess]]:
    """Start managers one by one, each with a name of its own in the audit log."""
    started: list[ManagerProcess] = []

    def start() -> ManagerProcess:
        user = f"manager-{len(started)}"
        log = plane.folder / f"{user}.stderr"
        arguments = (str(plane.kubeconfig_for(user)), NAMESPACE, str(pass_seconds), str(lease_seconds))
        with log.open("w") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.api.runtime.load_manager", *arguments],
                cwd=ROOT,
                env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"},
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
            )
        started.append(ManagerProcess(user, process, log))
        return started[-1]

    try:
        yield start
    finally:
        for manager in started:
            manager.process.kill()
            manager.process.wait()
            if manager.process.stdout is not None:
                manager.process.stdout.close()


@dataclass(frozen=True)
class Write:
    user: str
    resource: str
    at: datetime  # when the server received it
    is_success: bool


def writes_of(plane: ControlPlane) -> list[Write]:
    """Everything that managers asked the server to change, in the order of arrival."""
    found: list[Write] = []
    with plane.audit_log.open() as lines:
        for line in lines:
            entry = json.loads(line)
            if entry["verb"] in WRITES and entry["user"].get("username", "").startswith("manager-"):
                at = datetime.fromisoformat(entry["requestReceivedTimestamp"])
                code = entry.get("responseStatus", {}).get("code", 0)
                user = entry["user"].get("username", "")
                found.append(Write(user, entry["objectRef"]["resource"], at, 200 <= code < 300))
    return sorted(found, key=lambda write: write.at)


def late_writes(plane: ControlPlane) -> list[str]:
    """Requests of a leader that reached the server after the next leader's claim to the lease did."""
    writes = writes_of(plane)
    claims: dict[str, datetime] = {}
    for write in writes:
        if write.resource == "leases" and write.is_success:
            claims.setdefault(write.user, write.at)
    leaders = sorted(claims, key=lambda user: claims[user])
    ends = {leader: claims[successor] for leader, successor in pairwise(leaders)}
    return [
        f"{write.user} wrote {write.resource} {write.at - ends[write.user]} too late"
        for write in writes
        if write.user in ends and write.at >= ends[write.user]
    ]


@pytest.fixture
def plane(fresh_control_plane: Callable[..., ControlPlane]) -> ControlPlane:
    return fresh_control_plane(controllers=(), scheduler=False)


@pytest.mark.slow
def test_given_leaders_frozen_beyond_their_lease_at_random_moments_then_none_writes_when_it_thaws(
    plane: ControlPlane,
) -> None:
    rng = random.Random(2026)
    with managers(plane) as start:
        leader = start()
        leader.wait_until_leading()
        for _ in range(ROUNDS):
            standby = start()
            # Any moment of a write, of a renewal, or between them: not an event to wait for.
            time.sleep(rng.uniform(1.0, 2.0))
            os.kill(leader.process.pid, signal.SIGSTOP)
            standby.wait_until_leading()
            time.sleep(rng.uniform(0.0, 0.3))
            os.kill(leader.process.pid, signal.SIGCONT)
            assert leader.exit_code() == 1
            leader = standby
    assert late_writes(plane) == []
    writers = {write.user for write in writes_of(plane) if write.resource == "configmaps" and write.is_success}
    assert len(writers) == ROUNDS + 1


@pytest.mark.slow
def test_given_a_leader_under_load_when_it_is_stopped_then_it_ends_in_time_and_the_next_leads_at_once(
    plane: ControlPlane,
) -> None:
    # The usual lease: a busy machine must not lose it by itself.
    with managers(plane, pass_seconds=3600, lease_seconds=15) as start:
        leader = start()
        leader.wait_until_leading()
        standby = start()
        _until_synced(standby)
        identity = _holder(plane)
        leader.process.terminate()
        # Zero: its own clock, which would have ended it with 1, did not have to.
        assert leader.exit_code() == 0, leader.log.read_text()
        # Released, not expired: no time has to pass for another to lead.
        assert _holder(plane) != identity
        standby.wait_until_leading()
    assert late_writes(plane) == []


def _holder(plane: ControlPlane) -> str:
    lease = plane.http.get(f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/{LEASE_NAME}")
    return str(lease["spec"]["holderIdentity"])


def _until_synced(manager: ManagerProcess) -> None:
    deadline = time.monotonic() + HANG_SECONDS
    while "waiting for the lease" not in manager.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
