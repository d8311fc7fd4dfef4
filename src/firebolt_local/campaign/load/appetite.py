"""What does the operator's process need, and does it need more and more?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_MOST_GROWTH: Final = 1.25
"""Of the last quarter over the second: the first is for warming up."""
_SLACK: Final = {"memory": 16.0, "files": 16.0, "requests": 16.0}
"""MiB, descriptors, requests under way: less than that is no trend."""


@dataclass(frozen=True, slots=True)
class Sample:
    memory: float  # MiB, resident
    files: int  # open descriptors
    requests: int  # under way at the proxy: what its queue keeps it waiting for


def sample(pid: int, requests: int) -> Sample | None:
    """None: it is gone, or just begins."""
    process = Path(f"/proc/{pid}")
    try:
        status = (process / "status").read_text()
        files = sum(1 for _ in (process / "fd").iterdir())
    except OSError:
        return None
    resident = next((line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")), "0")
    return Sample(int(resident) / 1024, files, requests)


def growth(samples: Sequence[Sample]) -> list[str]:
    """In words; nothing if all stays flat."""
    quarter = len(samples) // 4
    if not quarter:
        return []
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    found: list[str] = []
    for name, slack in _SLACK.items():
        before, after = (_mean([getattr(each, name) for each in part]) for part in (early, late))
        if after > before * _MOST_GROWTH and after - before > slack:
            found.append(f"{name} grew from {before:.0f} to {after:.0f}")
    return found


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
