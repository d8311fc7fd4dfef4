"""What is kept of a run: enough to compare it with another one, on whatever machine that was."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from bench.support.report import Report, Row

ROOT: Final = Path(__file__).resolve().parents[2]
FOLDER: Final = ROOT / "build" / "bench"


class Record(msgspec.Struct, kw_only=True):
    benchmark: str
    engines: int
    began: datetime
    revision: str  # of the code
    cores: int
    flags: tuple[str, ...] = ()
    rows: list[Row] = []
    slowdown: float = 1.0  # CPU seconds as a multiple of what they are on this machine when it is idle

    def keep(self, path: Path, report: Report) -> None:
        """After every part of a run: one that is broken off is not lost."""
        self.rows = report.rows
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n")


def begin_record(benchmark: str, engines: int, flags: tuple[str, ...], now: datetime) -> Record:
    return Record(
        benchmark=benchmark,
        engines=engines,
        began=now,
        revision=_revision(),
        cores=os.cpu_count() or 0,
        flags=flags,
    )


def read_record(path: Path) -> Record:
    return msgspec.json.decode(path.read_bytes(), type=Record)


def record_path(record: Record) -> Path:
    moment = record.began.astimezone(UTC).strftime("%Y%m%d-%H%M%S")
    return FOLDER / f"{record.benchmark}-{record.engines}-{moment}.json"


def _revision() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"
