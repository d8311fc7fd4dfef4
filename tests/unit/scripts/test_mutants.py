"""Are the faults that `make mutants` plants those that people make, and does a planted one take effect?"""

import importlib.util
import os
from pathlib import Path
from types import ModuleType

import pytest

from scripts.mutants.choosing import sample, task_of
from scripts.mutants.modules import SOURCES
from scripts.mutants.mutations import Mutant, mutants_of
from scripts.mutants.planting import (
    FOUND,
    SURVIVED,
    Task,
    at_first,
    become_cold_mutant,
    functions_by_file,
    mutated_code,
    swap_functions,
)
from scripts.mutants.pool import exit_codes
from scripts.mutants.report import Outcome
from scripts.mutants.tests_of import Traced

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
    swap_functions(functions_by_file()[str(path)], mutated_code(path, number))


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


DECIDE = SOURCES / "engine/decide/phases.py"
TRACED = Traced(
    seconds={"tests/unit/engine/a.py::slow": 2.0, "tests/unit/engine/a.py::quick": 1.0, "tests/unit/wake/b.py::c": 0.1},
    lines={str(DECIDE): {"tests/unit/engine/a.py::slow": [3]}},
)


@pytest.mark.parametrize(
    ("function", "line", "tests", "is_cold"),
    [
        pytest.param("decide", 3, ["slow"], False, id="a-test-runs-it"),
        pytest.param("table", 9, ["slow", "quick"], True, id="a-function-that-runs-at-import-only"),
        pytest.param("", 1, ["slow", "quick"], True, id="outside-of-functions"),
    ],
)
def test_what_takes_effect_at_import_is_tried_on_all_tests_of_its_room(
    function: str, line: int, tests: list[str], is_cold: bool
) -> None:
    task = task_of(DECIDE, Mutant(0, (line, line), function, "1", "2"), TRACED)
    assert [test.partition("::")[2] for test in task.tests] == tests
    assert task.is_cold is is_cold


@pytest.mark.parametrize(
    ("tests", "first"),
    [
        (("a/test_b.py::x", "tests/unit/engine/test_phases.py::y"), ("tests/unit/engine/test_phases.py::y",)),
        (("tests/unit/api/test_b.py::x", "tests/unit/engine/test_c.py::y"), ("tests/unit/engine/test_c.py::y",)),
        (("tests/unit/api/test_b.py::x",), ("tests/unit/api/test_b.py::x",)),
    ],
    ids=["its-namesake", "its-room", "whatever-there-is"],
)
def test_what_is_tried_at_first(tests: tuple[str, ...], first: tuple[str, ...]) -> None:
    task = Task(DECIDE, Mutant(0, (1, 1), "", "1", "2"), tests, 1.0, is_cold=True)
    assert at_first(task).tests == first


def test_a_sample_is_the_same_each_time_and_has_no_more_than_there_are() -> None:
    everything = list(range(100))
    assert sample(everything, 10, seed=1) == sample(everything, 10, seed=1) != sample(everything, 10, seed=2)
    assert sample(everything, 1000, seed=1) == everything


PARAMETRISED = """
import pytest, {name}
@pytest.mark.parametrize("word", sorted({name}.WORDS))
def test_short(word):
    assert len(word) < {longest}
"""


@pytest.mark.parametrize(
    ("longest", "code"),
    [
        pytest.param(9, SURVIVED, id="that-a-test-is-gone-is-not-noticed"),
        pytest.param(5, FOUND, id="a-test-that-came-with-the-fault-counts"),
    ],
)
def test_given_a_fault_that_changes_the_parameters_of_a_test(tmp_path: Path, longest: int, code: int) -> None:
    """The word becomes one letter longer, and the test another one."""
    name = f"sample_of_words_{longest}"
    source, test = tmp_path / f"{name}.py", tmp_path / f"test_{name}.py"
    source.write_text('WORDS = {"four"}')
    test.write_text(PARAMETRISED.format(name=name, longest=longest))
    before = f"{test}::test_short[four]"
    task = Task(source, mutants_of(source.read_text())[0], (before,), 1.0, is_cold=True)
    arguments = ["-p", "no:cacheprovider", f"--rootdir={tmp_path}", "-o", f"pythonpath={tmp_path}"]
    codes = exit_codes([task], lambda each: become_cold_mutant(each, {before}, arguments), 1)
    assert codes == {task: code}


@pytest.mark.parametrize(
    ("explanations", "expected"),
    [
        ("- engine/a.py, decide: `1` -> `2`\n", True),
        ("- anywhere: `1` -> `2`\n", True),
        ("- engine/b.py, decide: `1` -> `2`\n", False),
        ("- anywhere: `1` -> `23`\n", False),
        ("", False),
    ],
)
def test_who_is_explained(explanations: str, expected: bool) -> None:
    survivor = Outcome("engine/a.py", Mutant(0, (1, 1), "decide", "1", "2"), survived=True)
    assert survivor.is_explained(explanations) is expected


def test_forks_answer_with_their_exit_codes() -> None:
    assert exit_codes([0, 1, 7], os._exit, 2) == {0: 0, 1: 1, 7: 7}
