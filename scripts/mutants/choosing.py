"""Which mutants are tried, and on which tests?"""

import random
from pathlib import Path
from typing import TypeVar

from scripts.mutants.modules import test_folder_of
from scripts.mutants.mutations import Mutant
from scripts.mutants.planting import Task
from scripts.mutants.tests_of import Traced

A = TypeVar("A")


def sample(mutants: list[A], size: int, seed: int) -> list[A]:
    """In the order of the source, whoever is chosen."""
    chosen = random.Random(seed).sample(range(len(mutants)), min(size, len(mutants)))
    return [mutants[number] for number in sorted(chosen)]


def task_of(path: Path, mutant: Mutant, traced: Traced) -> Task:
    """No test enters what runs only while its module is imported: it is tried like what stands outside of functions."""
    tests = traced.running(path, mutant.lines) if mutant.function else []
    chosen = tuple(tests or _all_of_the_room(path, traced))
    return Task(path, mutant, chosen, sum(traced.seconds[test] for test in chosen), is_cold=not tests)


def _all_of_the_room(path: Path, traced: Traced) -> list[str]:
    """What is decided at import shows in whoever uses it, and that may be generated code, which no trace sees."""
    own = traced.running(path, None)
    room = test_folder_of(path)
    return [*own, *traced.quickest_first({test for test in traced.seconds if test.startswith(room)} - set(own))]
