"""How is a program built once, so that a killed build leaves nothing that looks finished?

Each project has a folder in the cache, named after its fingerprint. A program appears there by a rename, when it is
complete. Builds take turns, program by program, and share Go's caches: what two programs have in common is compiled
once, whoever asked for them.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.locks import exclusive, together
from firebolt_local.programs.compiler import Compiler
from firebolt_local.programs.estimate import Estimate
from firebolt_local.programs.go_caches import GoCaches
from firebolt_local.programs.recipes import Companions, Project, Recipe

_LIST_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Workshop:
    """Where programs are built, by whom, and who is told."""

    cache: Path
    find_go: Callable[[], Path]
    say: Callable[[str, str], None]  # text, and what follows it: a progress line ends when the program is there

    def folder(self, project: Project) -> Path:
        return self.cache / f"{project.name}-{project.fingerprint()}"

    def find(self, recipe: Recipe) -> Path | None:
        path = self.folder(recipe.project) / recipe.program
        return path if is_program(path) else None

    def build(self, recipes: Sequence[Recipe]) -> None:
        """In this order. Go's caches go with the last build that has all it asked for."""
        if not recipes:
            return
        caches = GoCaches(self.cache)
        estimate = Estimate(recipes, cores=os.cpu_count() or 1)
        with together(self.cache / "builds.lock", when_last=caches.remove):
            for number, recipe in enumerate(recipes, 1):
                seconds = self._build_in_turn(recipe, caches, f"[{number}/{len(recipes)}]", estimate.left())
                estimate.note(recipe, seconds)

    def _build_in_turn(self, recipe: Recipe, caches: GoCaches, label: str, left: str) -> float | None:
        """How long it took; nothing if somebody else has built it meanwhile."""

        def waiting() -> None:
            self.say(f"{label} {recipe.program}: waiting for another build", "\n")

        with exclusive(self.cache / "building.lock", when_waiting=waiting) as turn:
            if self.find(recipe) is not None:
                return None
            began_at = time.monotonic()
            self.say(f"{label} {recipe.program}, {left} ...", "")
            caches.tidy()
            self._build_one(recipe, Compiler(self.find_go(), recipe.project, caches, turn))
            seconds = time.monotonic() - began_at
            self.say(f" {seconds:.0f} s", "\n")
            return seconds

    def _build_one(self, recipe: Recipe, compiler: Compiler) -> None:
        folder = self.folder(recipe.project)
        folder.mkdir(parents=True, exist_ok=True)
        program = compiler.compile(recipe)
        # First, so that whoever finds the program finds them as well.
        if recipe.project.companions is not None:
            _bring_companions(compiler, recipe.project.companions, folder)
        program.replace(folder / recipe.program)


def is_program(path: Path) -> bool:
    """A crash of the machine can leave an empty file behind a rename."""
    return path.is_file() and path.stat().st_size > 0 and os.access(path, os.X_OK)


def _bring_companions(compiler: Compiler, wanted: Companions, folder: Path) -> None:
    """Out of the sources that were just built from: those may be removed together with Go's caches."""
    answer = subprocess.run(
        [str(compiler.go), "list", "-m", "-f", "{{.Dir}}", wanted.project],
        cwd=compiler.project.folder,
        env=compiler.environment(),
        capture_output=True,
        text=True,
        check=False,
        timeout=_LIST_SECONDS,
    )
    sources = Path(answer.stdout.strip() or "/nonexistent")
    found = sorted(sources.glob(wanted.pattern))
    if not found:
        raise LocalError(f"{wanted.project} has no {wanted.pattern}: {answer.stderr.strip() or sources}")
    for source in found:
        shutil.copyfile(source, folder / source.name)
