"""What did the mutants show? Figures by module, and who survived without a word about it in the documentation."""

import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

EXPLANATIONS = Path(__file__).parents[2] / "docs/dev/mutants.md"
LEAST_FOUND = 0.93
TELL_EVERY = 100


@dataclass(frozen=True, slots=True)
class Outcome:
    module: str
    mutant: object
    survived: bool

    def __str__(self) -> str:
        return f"{self.module}, {self.mutant}"

    def is_explained(self, explanations: str) -> bool:
        """By itself, or together with all that are changed in the same way."""
        change = str(self.mutant).partition(": ")[2]
        return f"- {self}\n" in explanations or f"- anywhere: {change}\n" in explanations


@dataclass(slots=True)
class Progress:
    """On standard error: a run takes long enough for people to wonder, and survivors are of interest at once."""

    stage: str
    left: int

    def ended(self, mutant: str, *, survived: bool) -> None:
        self.left -= 1
        if survived:
            print(f"{self.stage}: survived: {mutant}", file=sys.stderr, flush=True)
        if self.left % TELL_EVERY == 0:
            print(f"{self.stage}: {self.left} to go", file=sys.stderr, flush=True)


def tell(outcomes: list[Outcome]) -> int:
    """Prints; answers the exit code."""
    survivors = [each for each in outcomes if each.survived]
    explained = EXPLANATIONS.read_text() if EXPLANATIONS.exists() else ""
    unexplained = [each for each in survivors if not each.is_explained(explained)]
    _print_modules(outcomes)
    print(f"\n{len(unexplained)} survivors not explained")
    for each in unexplained:
        print(f"- {each}")
    found = len(outcomes) - len(survivors)
    share = found / len(outcomes)
    print(f"\n{found} of {len(outcomes)} found ({share:.1%}), {len(survivors) - len(unexplained)} explained")
    return 0 if share >= LEAST_FOUND else 1


def _print_modules(outcomes: list[Outcome]) -> None:
    by_module = defaultdict[str, list[Outcome]](list)
    for each in outcomes:
        by_module[each.module].append(each)
    width = max(map(len, by_module))
    for module, group in by_module.items():
        found = sum(not each.survived for each in group)
        print(f"{module:<{width}} {found:>4} of {len(group):>4} {found / len(group):>6.1%}")
