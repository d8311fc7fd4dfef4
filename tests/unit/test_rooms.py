"""Does the place of a module hold it to its promise? Modules that break it are put into a copy of the house."""

import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import tomli_w

import firebolt_operator

PACKAGE = Path(firebolt_operator.__file__).parent
REPOSITORY = Path(__file__).parents[2]
LINTER = Path(sys.executable).with_name("lint-imports")
ABOUT_OTHERS = ("firebolt_local", "kubectl_firebolt", "tests")
PURE_PACKAGES = ("api", "gateway", "manifests", "policy")
PURE_ROOMS = ("decide", "render")
IMPURE = ("aiohttp", "asyncio", "logging", "os", "random", "time")

PURITY = "pure rooms stay pure"
DECISIONS = "decisions do not care how objects are rendered, and rendering decides nothing"
OBSERVERS = "who observes does not write"
LAYERS = "imports point downwards"


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A copy of the package, and of the contracts that speak of nothing else."""
    shutil.copytree(PACKAGE, tmp_path / PACKAGE.name, ignore=shutil.ignore_patterns("__pycache__"))
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["importlinter"]
    settings["root_packages"] = [PACKAGE.name]
    settings["contracts"] = [each for each in settings["contracts"] if not _is_about_others(each)]
    (tmp_path / "pyproject.toml").write_text(tomli_w.dumps({"tool": {"importlinter": settings}}))
    return tmp_path


def _is_about_others(contract: Mapping[str, Any]) -> bool:
    return any(other in str(value) for key, value in contract.items() if key != "name" for other in ABOUT_OTHERS)


def plant(house: Path, room: str, *imports: str) -> None:
    """A new module in the room; the room is made if it is not there."""
    folder = house / PACKAGE.name / room
    folder.mkdir(parents=True, exist_ok=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "planted.py").write_text("".join(f"import {each}\n" for each in imports))


def lint(house: Path) -> subprocess.CompletedProcess[str]:
    command, environment = [str(LINTER), "--no-cache", "--no-logo"], {"PYTHONPATH": str(house)}
    return subprocess.run(command, cwd=house, env=environment, check=False, capture_output=True, text=True)


def broken_contracts(told: str) -> list[str]:
    return [line.removesuffix(" BROKEN") for line in told.splitlines() if line.endswith(" BROKEN")]


def pure_rooms() -> Iterable[str]:
    """By their place alone: what `pyproject.toml` says about them is on trial here."""
    for path in [PACKAGE, *PACKAGE.rglob("*/")]:
        place = path.relative_to(PACKAGE)
        is_pure = place.parts[:1] and (place.parts[0] in PURE_PACKAGES or not set(PURE_ROOMS).isdisjoint(place.parts))
        if is_pure and (path / "__init__.py").exists():
            yield str(place)


def test_the_house_as_it_stands_keeps_its_contracts(house: Path) -> None:
    linted = lint(house)
    assert (linted.returncode, broken_contracts(linted.stdout)) == (0, []), linted.stdout + linted.stderr


def test_an_impure_module_in_any_pure_room_is_found(house: Path) -> None:
    rooms = [*pure_rooms(), "newcomer/decide", "newcomer/render"]
    for room in rooms:
        plant(house, room, *IMPURE)
    linted = lint(house)
    modules = [f"{PACKAGE.name}.{room.replace('/', '.')}.planted" for room in rooms]
    missed = [
        f"{module} -> {each}" for module in modules for each in IMPURE if f"{module} -> {each}" not in linted.stdout
    ]
    assert (linted.returncode, missed) == (1, [])
    assert PURITY in broken_contracts(linted.stdout)
    assert "engine/render/drift" in rooms
    assert "gateway/envoy" in rooms


@pytest.mark.parametrize(
    ("room", "imported", "contract"),
    [
        pytest.param("engine/decide", "engine.render.statefulset", DECISIONS, id="a-decision-that-renders"),
        pytest.param("engine/render", "engine.decide.phases", DECISIONS, id="rendering-that-decides"),
        pytest.param("instance/observe", "instance.act.writes", OBSERVERS, id="an-observer-that-writes"),
        pytest.param("policy", "kube.ports", PURITY, id="a-check-that-asks-the-server"),
        pytest.param("runtime", "engine.plan", LAYERS, id="a-runtime-that-knows-engines"),
        pytest.param("instance", "engine.views", LAYERS, id="an-instance-that-looks-into-engines"),
    ],
)
def test_a_module_in_the_wrong_room_is_found(house: Path, room: str, imported: str, contract: str) -> None:
    plant(house, room, f"{PACKAGE.name}.{imported}")
    linted = lint(house)
    assert linted.returncode == 1
    assert contract in broken_contracts(linted.stdout)
