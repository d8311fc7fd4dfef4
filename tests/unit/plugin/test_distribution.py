"""Does the plugin's wheel carry all that it needs, and nothing of the operator?"""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

import kubectl_firebolt
from firebolt_operator.api import names as operator_names
from firebolt_operator.version import SOURCE_TREE as OPERATORS_VERSION
from kubectl_firebolt import names
from kubectl_firebolt.version import SOURCE_TREE

PACKAGE = Path(kubectl_firebolt.__file__).parent
DISTRIBUTED_AS = {"yaml": "pyyaml"}


@pytest.fixture(scope="module")
def project(pytestconfig: pytest.Config) -> dict[str, object]:
    text = (pytestconfig.rootpath / "plugin/pyproject.toml").read_text()
    found: dict[str, object] = tomllib.loads(text)["project"]
    return found


def imported() -> set[str]:
    found = set[str]()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found - set(sys.stdlib_module_names) - {PACKAGE.name}


def test_it_asks_for_what_it_imports(project: dict[str, object]) -> None:
    dependencies = project["dependencies"]
    assert isinstance(dependencies, list)
    asked_for = {str(each).partition(">=")[0] for each in dependencies}
    assert {DISTRIBUTED_AS.get(name, name) for name in imported()} == asked_for


def test_the_only_link_is_to_the_names_of_the_wire_contract() -> None:
    """A wheel carries what a link points at; a module that imports others of the operator would not work there."""
    links = {path.name: path.resolve() for path in PACKAGE.rglob("*") if path.is_symlink()}
    assert links == {"names.py": Path(operator_names.__file__).resolve()}
    assert names.LABEL_ENGINE == operator_names.LABEL_ENGINE


def test_the_operators_wheel_and_image_carry_none_of_it(pytestconfig: pytest.Config) -> None:
    text = (pytestconfig.rootpath / "pyproject.toml").read_text()
    wheel = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["packages"] == ["src/firebolt_operator", "src/firebolt_local"]
    copied = [line for line in (pytestconfig.rootpath / "Dockerfile").read_text().splitlines() if "COPY src" in line]
    assert all("src/firebolt_operator" in line for line in copied)


def test_both_are_released_together(project: dict[str, object]) -> None:
    assert project["version"] == SOURCE_TREE == OPERATORS_VERSION
