"""How is a long-running program started, recognised later by another process, and ended for certain?

A process is known by its pid, its start time and the boot it belongs to: a pid that was given to somebody else is never
touched. The child writes its own record before it becomes the program, so that there is no instant at which it runs
unrecorded, even if whoever started it dies.
"""

import os
import select
import shutil
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

LOGS = "logs"
RECORDS = "processes"
RECORD_SUFFIX = ".process"
_LAUNCH_SUFFIX = ".launch"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
# "$1" is the working folder: sockets are named relative to it, since a socket's path may have 107 bytes only.
_RECORD_THEN_BECOME = (
    'cd "$1" && shift || exit 1; '
    "read -r boot </proc/sys/kernel/random/boot_id; read -r stat </proc/self/stat; "
    'printf "%s\\n%s\\n" "$boot" "$stat" >"$0.new" && mv "$0.new" "$0" && exec "$@"'
)


@dataclass(frozen=True, slots=True)
class ProcessRecord:
    pid: int
    started_at: int  # clock ticks since boot
    boot: str

    def is_alive(self) -> bool:
        return _read_stat(self.pid) == (self.started_at, True) and self.boot == _BOOT_ID.read_text().strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to run and where its traces go."""

    name: str
    command: Sequence[str]
    folder: Path  # working folder; records and logs lie below it
    environment: Mapping[str, str]
    dies_with_parent: bool = False
    prefix: Sequence[str] = ()  # for example nsenter and its flags; must exec, not fork

    @property
    def log(self) -> Path:
        return self.folder / LOGS / f"{self.name}.log"

    @property
    def record(self) -> Path:
        return self.folder / RECORDS / f"{self.name}{RECORD_SUFFIX}"

    @property
    def recipe(self) -> Path:
        return _recipe(self.folder, self.name)


def start(launch: Launch) -> ProcessRecord:
    """Start a program in a session of its own (Ctrl-C in the terminal is not meant for it)."""
    for place in (launch.log.parent, launch.record.parent):
        place.mkdir(parents=True, exist_ok=True, mode=0o700)
    launch.record.unlink(missing_ok=True)
    launch.recipe.write_bytes(msgspec.json.encode(launch, enc_hook=str))
    shell = ["/bin/sh", "-c", _RECORD_THEN_BECOME, str(launch.record), str(launch.folder)]
    argv = [*launch.prefix, *shell, *launch.command]
    if launch.dies_with_parent:
        argv = ["setpriv", "--pdeathsig", "KILL", *argv]
    program = shutil.which(argv[0]) or argv[0]
    append = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    pid = os.posix_spawn(
        program,
        argv,
        dict(launch.environment),
        file_actions=[
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(launch.log), append, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ],
        setsid=True,
    )
    stat = _read_stat(pid)
    return ProcessRecord(pid, stat[0] if stat else 0, _BOOT_ID.read_text().strip())


def start_again(folder: Path, name: str) -> ProcessRecord:
    """End a program, if it still runs, and start it just as it was started before, whoever that was."""
    kill([record for program, record in read_records(folder).items() if program == name])
    recipe = _recipe(folder, name).read_bytes()
    return start(msgspec.json.decode(recipe, type=Launch, dec_hook=lambda _, text: Path(text)))


def record_of(pid: int) -> ProcessRecord | None:
    """A process that runs now; None if there is none."""
    stat = _read_stat(pid)
    return ProcessRecord(pid, stat[0], _BOOT_ID.read_text().strip()) if stat else None


def read_records(folder: Path) -> dict[str, ProcessRecord]:
    """Every process that was ever recorded there, by name; dead ones included."""
    found: dict[str, ProcessRecord] = {}
    for path in sorted((folder / RECORDS).glob(f"*{RECORD_SUFFIX}")):
        boot, _, stat = path.read_text().partition("\n")
        pid, started_at, _ = _parse_stat(stat)
        found[path.name.removesuffix(RECORD_SUFFIX)] = ProcessRecord(pid, started_at, boot)
    return found


def kill(records: Sequence[ProcessRecord], *, timeout_seconds: float = 20) -> list[ProcessRecord]:
    """End processes with SIGKILL and wait until they are gone; answers those that would not go."""
    descriptors = {fd: record for record in records if (fd := _signalled(record)) is not None}
    try:
        return [record for fd, record in descriptors.items() if not _has_ended(fd, record, timeout_seconds)]
    finally:
        for fd in descriptors:
            os.close(fd)


def _recipe(folder: Path, name: str) -> Path:
    return folder / RECORDS / f"{name}{_LAUNCH_SUFFIX}"


def _signalled(record: ProcessRecord) -> int | None:
    try:
        descriptor = os.pidfd_open(record.pid)
    except ProcessLookupError:
        return None
    # Only now, with the process pinned by a descriptor, does the comparison hold until the signal is sent.
    if not record.is_alive():
        os.close(descriptor)
        _reap(record.pid)
        return None
    with suppress(ProcessLookupError):
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
    return descriptor


def _has_ended(descriptor: int, record: ProcessRecord, timeout_seconds: float) -> bool:
    ended, _, _ = select.select([descriptor], [], [], timeout_seconds)
    _reap(record.pid)
    return bool(ended)


def _reap(pid: int) -> None:
    """A child of ours stays a zombie until it is waited for; somebody else's child is not ours to wait for."""
    with suppress(ChildProcessError):
        os.waitpid(pid, os.WNOHANG)


def _read_stat(pid: int) -> tuple[int, bool] | None:
    """Start time, and whether it runs (a zombie does not)."""
    try:
        _, started_at, state = _parse_stat(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None
    return started_at, state not in "ZX"


def _parse_stat(stat: str) -> tuple[int, int, str]:
    """Pid, start time, state. The name in brackets may hold anything, even brackets: count from the last one."""
    fields = stat.rpartition(")")[2].split()
    return int(stat.split(maxsplit=1)[0]), int(fields[19]), fields[0]
