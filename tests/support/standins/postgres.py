"""A real PostgreSQL on loopback, in a folder of its own."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_local.cluster.ports import LOOPBACK, free_port

USER = "firebolt"
PASSWORD = "0123456789abcdef01234567"
DATABASE = "firebolt_metadata"
_START_SECONDS = 60


@dataclass(slots=True)
class PostgresServer:
    binaries: Path
    folder: Path
    port: int
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        data = str(self.folder / "data")
        settings = ["-c", f"listen_addresses={LOOPBACK}", "-c", f"port={self.port}", "-c", "unix_socket_directories="]
        command = self._as_owner([str(self.binaries / "postgres"), "-D", data, "-c", "fsync=off", *settings])
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, cwd=self.folder)
        waiting = [str(self.binaries / "pg_isready"), "-h", LOOPBACK, "-p", str(self.port), "-t", "1"]
        for _ in range(_START_SECONDS * 5):
            if subprocess.run(waiting, capture_output=True, timeout=10, check=False).returncode == 0:
                return
            assert self.process.poll() is None, (self.folder / "log").read_text()
        raise AssertionError("PostgreSQL does not start")

    def stop(self) -> None:
        """At once, with whatever runs."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait(timeout=30)
        self.process = None

    def initialise(self) -> None:
        password = self.folder / "password"
        password.write_text(PASSWORD)
        self.run(
            "initdb", "-D", str(self.folder / "data"), "-U", USER, "--pwfile", str(password), "-A", "scram-sha-256"
        )

    def run(self, program: str, *arguments: str) -> str:
        ran = subprocess.run(
            self._as_owner([str(self.binaries / program), *arguments]),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
            cwd=self.folder,
            env={**os.environ, "PGPASSWORD": PASSWORD, "PGHOST": LOOPBACK, "PGPORT": str(self.port), "PGUSER": USER},
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout.strip()

    def _as_owner(self, command: Sequence[str]) -> list[str]:
        """PostgreSQL refuses to run as root."""
        if os.geteuid() != 0:
            return list(command)
        owner = pwd.getpwnam("nobody")
        return ["setpriv", f"--reuid={owner.pw_uid}", f"--regid={owner.pw_gid}", "--clear-groups", *command]


@contextmanager
def running_postgres() -> Generator[PostgresServer]:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    if not found:
        pytest.skip("no PostgreSQL in /usr/lib/postgresql")
    # Not in pytest's folder: that is closed to the user who runs the server.
    folder = Path(tempfile.mkdtemp(prefix="standins-postgres-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "nobody")
    server = PostgresServer(found[-1].parent, folder, free_port())
    try:
        server.initialise()
        server.start()
        server.run("createdb", DATABASE)
        yield server
    finally:
        server.stop()
        shutil.rmtree(folder)
