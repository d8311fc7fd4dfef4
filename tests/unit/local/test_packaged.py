"""Is everything that commands read part of a package, so that they work without a repository around them?"""

import re
import tomllib

import pytest

from firebolt_local.packaged import packaged


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("firebolt_local.testing", ("chart", "Chart.yaml")),
        ("firebolt_local.demo", ("examples", "quickstart.yaml")),
        ("firebolt_local.demo", ("examples", "engine-class.yaml")),
        ("firebolt_local.images", ("requirements", "run.txt")),
        ("firebolt_local.images", ("requirements", "standins.txt")),
        ("firebolt_local.programs", ("modules", "programs", "go.sum")),
        ("firebolt_local.cluster", ("stages", "pod-run.yaml")),
        ("firebolt_operator", ("manager",)),
    ],
)
def test_a_file_that_a_command_reads_is_packaged(package: str, names: tuple[str, ...]) -> None:
    assert packaged(package, *names).is_file()


def test_no_module_counts_folders_upwards() -> None:
    counting = re.compile(r"\.parents\[|\.parent\.parent|__file__")
    sources = {path: path.read_text() for path in packaged("firebolt_local").rglob("*.py")}
    assert len(sources) > 80
    assert [str(path) for path, text in sources.items() if counting.search(text)] == []


def test_what_a_link_points_at_is_copied_into_the_wheel(pytestconfig: pytest.Config) -> None:
    """A source distribution carries no links, and a wheel is built from one."""
    repository, package = pytestconfig.rootpath.resolve(), packaged("firebolt_local")
    links = {
        str(path.resolve().relative_to(repository)): str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.is_symlink()
    }
    wheel = tomllib.loads((repository / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["force-include"] == links
    assert sorted(wheel["exclude"]) == sorted(f"src/{path}" for path in links.values())
