"""What did the mutants show? Figures by module, and who survived without a word about it in the documentation."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

EXPLANATIONS = Path(__file__).parents[2] / "docs/dev/mutants.md"
LEAST_FOUND = 0.93


@dataclass(frozen=True, slots=True)
class Outcome:
    module: str
    mutant: object
    survived: bool
    line: int = 0

    def __str__(self) -> str:
        return f"{self.module}, {self.mutant}"


def tell(outcomes: list[Outcome]) -> int:
    """Prints; answers the exit code."""
    survivors = [each for each in outcomes if each.survived]
    explained = EXPLANATIONS.read_text() if EXPLANATIONS.exists() else ""
    unexplained = [each for each in survivors if str(each) not in explained]
    _print_modules(outcomes)
    for title, group in (("not explained", unexplained),):
        print(f"\n{len(group)} survivors {title}")
        for each in group:
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
