"""Are the faults that `make mutants` plants those that people make, and does a planted one take effect?"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from scripts.mutants.mutations import mutants_of
from scripts.mutants.planting import mutated_code, swap_functions
from scripts.mutants.pool import exit_codes

SOURCE = '''"""Documentation is left alone."""
from functools import lru_cache
LIMIT: "int" = 3

class Room:
    size = 1
    @property
    def is_full(self):
        return self.size >= LIMIT

@lru_cache
def fits(size):
    """So is this."""
    if not size:
        raise ValueError("empty")
    return size < LIMIT and size != 1

def adder(by):
    return lambda number: number + by

one_more = adder(1)
'''


@pytest.mark.parametrize(
    ("statement", "faults"),
    [
        pytest.param("return a < b", {"return None", "a <= b"}, id="comparison-and-value"),
        pytest.param("return a is None or b", {"return None", "a is not None", "a is None and b"}, id="condition"),
        pytest.param("if a in b: go()", {"a not in b", "True", "False", "nothing"}, id="branch"),
        pytest.param("return [x for x in a if x]", {"return None", "True", "False"}, id="filter"),
        pytest.param("a.b = not a", {"nothing", "a"}, id="assignment-to-something-shared"),
        pytest.param("a = 'text'", {"'text~'"}, id="text"),
        pytest.param("a = f'{b} of them'", {"' of them~'"}, id="piece-of-a-text"),
        pytest.param("a = 2 * b", {"3", "2 + b"}, id="arithmetic"),
        pytest.param("a = True", {"False"}, id="boolean"),
        pytest.param("raise RuntimeError('a bug')", {"nothing"}, id="words-of-a-bug"),
        pytest.param("a: 'Type' = b", set[str](), id="annotation"),
        pytest.param("return None", set[str](), id="nothing-to-return"),
    ],
)
def test_faults(statement: str, faults: set[str]) -> None:
    found = mutants_of(f"def decide(a, b):\n    {statement}\n")
    assert {mutant.became.strip('"') for mutant in found} == faults
    assert {mutant.function for mutant in found} <= {"decide"}


def test_what_takes_effect_at_import_belongs_to_no_function() -> None:
    outside = {mutant.was: mutant.function for mutant in mutants_of(SOURCE)}
    assert (outside["3"], outside["self.size >= LIMIT"], outside["number + by"]) == ("", "Room.is_full", "adder")


@pytest.fixture
def module(tmp_path: Path) -> ModuleType:
    (tmp_path / "sample.py").write_text(SOURCE)
    spec = importlib.util.spec_from_file_location("sample", tmp_path / "sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def plant(module: ModuleType, was: str, became: str) -> None:
    path = Path(str(module.__file__))
    number = next(mutant.number for mutant in mutants_of(SOURCE) if (mutant.was, mutant.became) == (was, became))
    swap_functions(path, mutated_code(path, number))


def test_a_fault_reaches_those_who_imported_the_function_before(module: ModuleType) -> None:
    """Behind decorators, in classes, and in what a function made at import."""
    fits, room, one_more = module.fits, module.Room(), module.one_more
    room.size = 3
    assert (room.is_full, one_more(1)) == (True, 2)
    plant(module, "size < LIMIT", "size <= LIMIT")
    assert fits(3)
    plant(module, "self.size >= LIMIT", "self.size > LIMIT")
    assert not room.is_full
    plant(module, "number + by", "number - by")
    assert one_more(1) == 0


def test_forks_answer_with_their_exit_codes() -> None:
    assert exit_codes([0, 1, 7], os._exit, 2) == {0: 0, 1: 1, 7: 7}
