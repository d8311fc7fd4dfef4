"""Where does Go keep what it fetched and compiled while programs are built, and what becomes of it?

It grows to gigabytes, so it is private and removed after success. After a failure it stays, and the next attempt goes
on where the last one ended.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class GoCaches:
    cache: Path

    @property
    def folder(self) -> Path:
        return self.cache / ".building"

    @property
    def scratch(self) -> Path:
        """What is there only while one program is built."""
        return self.folder / "scratch"

    def tidy(self) -> None:
        """Keep what a killed build fetched and compiled, drop what it was about to write."""
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)

    def remove(self) -> None:
        """In one step: of sources that are half removed Go would believe that they are complete."""
        removed = self.cache / ".removing"
        shutil.rmtree(removed, ignore_errors=True)
        if self.folder.exists():
            self.folder.rename(removed)
            shutil.rmtree(removed)

    def environment(self, go: Path) -> dict[str, str]:
        settings = {
            "GOFLAGS": "-mod=readonly",
            "GOCACHE": str(self.folder / "compiled"),
            "GOTMPDIR": str(self.scratch),
        }
        if not _has_module_cache(go):
            # Whoever uses Go has its module cache, and no use for a second copy; others get no new folder at home.
            settings |= {"GOMODCACHE": str(self.folder / "modules"), "GOFLAGS": "-mod=readonly -modcacherw"}
        return settings


def _has_module_cache(go: Path) -> bool:
    answer = subprocess.run(
        [go, "env", "GOMODCACHE"],
        capture_output=True,
        text=True,
        env={**os.environ, "GOTOOLCHAIN": "local"},
        check=False,
        timeout=60,
    )
    path = Path(answer.stdout.strip() or "/nonexistent")
    return path.is_dir() and os.access(path, os.W_OK)
