"""Is a program built once, completely or not at all, and does every failure say what to do?"""

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.locks import together
from firebolt_local.programs import provision
from firebolt_local.programs.build import Workshop
from firebolt_local.programs.recipes import Companions, Project, Recipe
from tests.support.child_processes import python_environment

GO = shutil.which("go")
pytestmark = pytest.mark.skipif(GO is None, reason="no go on PATH")

_MODULE = "module sample\n\ngo 1.26\n"
_MAIN = "package main\n\nfunc main() { println(%s) }\n"
_BUILD = """
import sys
from pathlib import Path
from firebolt_local.programs.build import Workshop
from firebolt_local.programs.recipes import Project, Recipe
project = Project("sample", Path(sys.argv[1]))
Workshop(Path(sys.argv[2]), lambda: Path(sys.argv[3]), print).build([Recipe("one", project, "./one")])
"""


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Go's own runtime, compiled once: every workshop starts with an empty cache, and seconds matter here."""
    folder = tmp_path_factory.mktemp("compiled")
    a_project(folder / "module")
    environment = {**os.environ, "GOCACHE": str(folder / "cache"), "CGO_ENABLED": "0"}
    command = [str(GO), "build", "-trimpath", "-buildvcs=false", "-o", str(folder / "one"), "./one"]
    subprocess.run(command, cwd=folder / "module", env=environment, check=True)
    return folder / "cache"


@pytest.fixture
def recipes(tmp_path: Path, compiled: Path) -> dict[str, Recipe]:
    project = a_project(tmp_path / "module")
    shutil.copytree(compiled, tmp_path / "cache" / ".building" / "compiled")
    return {name: Recipe(name, project, f"./{name}") for name in ("one", "two")}


@pytest.fixture
def no_assets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(provision.ASSETS_VARIABLE, raising=False)


def a_project(folder: Path) -> Project:
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        (folder / name / "main.go").write_text(_MAIN % f'"{name}"')
    (folder / "go.mod").write_text(_MODULE)
    return Project("sample", folder)


def a_workshop(tmp_path: Path, said: list[str] | None = None) -> Workshop:
    heard = said if said is not None else []
    return Workshop(tmp_path / "cache", lambda: Path(str(GO)), lambda text, end: heard.append(text + end))


def files_of(workshop: Workshop, recipes: dict[str, Recipe]) -> list[str]:
    return sorted(path.name for path in workshop.folder(recipes["one"].project).iterdir())


@pytest.mark.usefixtures("no_assets")
def test_given_nothing_then_what_is_asked_for_is_built_once(tmp_path: Path, recipes: dict[str, Recipe]) -> None:
    said = list[str]()
    workshop = a_workshop(tmp_path, said)
    found = provision.provide(["two", "one"], recipes=recipes, workshop=workshop)
    assert subprocess.run([found["two"]], capture_output=True, check=True).stderr == b"two\n"
    assert [text.partition(" ...")[0] for text in said[::2]] == [
        "[1/2] two, about 1 min left",
        "[2/2] one, less than a minute left",
    ]
    assert files_of(workshop, recipes) == ["one", "two"]
    assert [path.name for path in workshop.cache.iterdir()] == [found["one"].parent.name]
    said.clear()
    assert provision.provide(["one", "two"], recipes=recipes, workshop=workshop) == found
    assert said == []


def test_given_assets_then_they_are_used_and_only_the_rest_is_built(
    tmp_path: Path, recipes: dict[str, Recipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = tmp_path / "assets" / "one"
    given.parent.mkdir()
    given.write_text("#!/bin/sh\n")
    given.chmod(0o755)
    monkeypatch.setenv(provision.ASSETS_VARIABLE, str(given.parent))
    workshop = a_workshop(tmp_path)
    assert provision.provide(["one", "two"], recipes=recipes, workshop=workshop)["one"] == given
    assert files_of(workshop, recipes) == ["two"]


def test_given_a_killed_build_then_nothing_looks_finished_and_the_next_one_finishes(tmp_path: Path) -> None:
    project = a_project(tmp_path / "module")  # nothing compiled yet: there is time to be killed
    workshop = a_workshop(tmp_path)
    arguments = [sys.executable, "-c", _BUILD, str(project.folder), str(workshop.cache), str(GO)]
    environment = python_environment()
    with subprocess.Popen(arguments, env=environment, stdout=subprocess.DEVNULL) as builder:
        go = _compiler_of(builder)
        builder.send_signal(signal.SIGKILL)
        builder.wait()
    _wait_until_gone(go)
    recipe = Recipe("one", project, "./one")
    assert workshop.find(recipe) is None
    said = list[str]()
    a_workshop(tmp_path, said).build([recipe])
    assert subprocess.run([workshop.folder(project) / "one"], capture_output=True, check=True).stderr == b"one\n"
    assert [path.name for path in workshop.cache.iterdir()] == [workshop.folder(project).name]


def test_given_companions_then_they_lie_beside_the_program(tmp_path: Path, recipes: dict[str, Recipe]) -> None:
    """Also when the sources are gone."""
    folder = recipes["one"].project.folder
    (folder / "thing" / "kinds").mkdir(parents=True)
    (folder / "thing" / "go.mod").write_text("module example.org/thing\n\ngo 1.26\n")
    for name in ("one.yaml", "other.txt"):
        (folder / "thing" / "kinds" / name).write_text("kind: One\n")
    required = "require example.org/thing v0.0.0\n\nreplace example.org/thing => ./thing\n"
    (folder / "go.mod").write_text(f"{_MODULE}\n{required}")
    project = Project("sample", folder, companions=Companions("example.org/thing", "kinds/*.yaml"))
    workshop = a_workshop(tmp_path)
    workshop.build([Recipe("one", project, "./one")])
    assert sorted(path.name for path in workshop.folder(project).iterdir()) == ["one", "one.yaml"]
    missing = Project("sample", folder, companions=Companions("example.org/thing", "kinds/*.json"))
    with pytest.raises(LocalError, match=r"example\.org/thing has no kinds/\*\.json"):
        workshop.build([Recipe("one", missing, "./one")])
    assert workshop.find(Recipe("one", missing, "./one")) is None


def test_given_half_a_cache_then_it_is_completed(tmp_path: Path, recipes: dict[str, Recipe]) -> None:
    workshop = a_workshop(tmp_path)
    folder = workshop.folder(recipes["one"].project)
    folder.mkdir()
    (folder / "one").touch()  # empty, as after a crash of the machine
    scratch = workshop.cache / ".building" / "scratch"
    scratch.mkdir()
    (scratch / "one.4711").write_bytes(b"\x7fELF half a program")
    (workshop.cache / ".removing" / "compiled").mkdir(parents=True)
    for lock in ("builds.lock", "building.lock"):
        (workshop.cache / lock).touch()
    workshop.build([recipes["one"]])
    assert subprocess.run([folder / "one"], capture_output=True, check=True).stderr == b"one\n"
    assert [path.name for path in workshop.cache.iterdir()] == [folder.name]


def test_given_no_space_then_it_says_how_much_is_needed_and_where_to_get_it(
    tmp_path: Path, recipes: dict[str, Recipe]
) -> None:
    limited = tmp_path / "limited-go"
    limited.write_text(f'#!/bin/sh\n[ "$1" = build ] && ulimit -f 256\nexec {GO} "$@"\n')
    limited.chmod(0o755)
    workshop = Workshop(tmp_path / "cache", lambda: limited, lambda _text, _end: None)
    with pytest.raises(LocalError, match="no space to build one") as caught:
        workshop.build([recipes["one"]])
    assert "XDG_CACHE_HOME" in str(caught.value)
    assert workshop.find(recipes["one"]) is None
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_given_no_module_proxy_then_it_says_what_could_not_be_fetched(
    tmp_path: Path, recipes: dict[str, Recipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = recipes["one"].project.folder
    (folder / "go.mod").write_text(f"{_MODULE}\nrequire example.org/thing v1.2.3\n")
    (folder / "go.sum").write_text(
        "example.org/thing v1.2.3 h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
        "example.org/thing v1.2.3/go.mod h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=\n"
    )
    (folder / "one" / "main.go").write_text('package main\n\nimport _ "example.org/thing"\n\nfunc main() {}\n')
    monkeypatch.setenv("GOPROXY", "http://127.0.0.1:1")
    with pytest.raises(LocalError, match="could not be fetched; connect to a Go module proxy"):
        a_workshop(tmp_path).build([recipes["one"]])


def test_given_sources_that_do_not_compile_then_it_says_where_the_reason_is(
    tmp_path: Path, recipes: dict[str, Recipe]
) -> None:
    (recipes["one"].project.folder / "one" / "main.go").write_text("package main\n\nfunc main() { oops }\n")
    with pytest.raises(LocalError, match=r"building one failed; the reason is in (.*)") as caught:
        a_workshop(tmp_path).build([recipes["one"]])
    assert "undefined: oops" in Path(str(caught.value).rpartition(" ")[2]).read_text()


def test_given_a_failure_then_what_was_compiled_stays_for_the_next_attempt(
    tmp_path: Path, recipes: dict[str, Recipe]
) -> None:
    workshop, source = a_workshop(tmp_path), recipes["two"].project.folder / "two" / "main.go"
    good = source.read_text()
    source.write_text("package main\n\nfunc main() { oops }\n")
    with pytest.raises(LocalError):
        workshop.build([recipes["one"], recipes["two"]])
    assert files_of(workshop, recipes) == ["one"]
    assert any((workshop.cache / ".building" / "compiled").iterdir())
    source.write_text(good)
    workshop.build([recipes["two"]])
    assert [path.name for path in workshop.cache.iterdir()] == [workshop.folder(recipes["one"].project).name]


def test_given_two_builds_at_once_then_each_program_is_built_once_and_the_last_one_clears_away(
    tmp_path: Path, recipes: dict[str, Recipe]
) -> None:
    calls, caches = tmp_path / "calls", tmp_path / "cache" / ".building"
    counting = tmp_path / "counting-go"
    counting.write_text(f'#!/bin/sh\n[ "$1" = build ] && echo x >> {calls}\nexec {GO} "$@"\n')
    counting.chmod(0o755)
    workshop = Workshop(tmp_path / "cache", lambda: counting, lambda _text, _end: None)
    with ThreadPoolExecutor() as both:
        asked = [[recipes["one"], recipes["two"]], [recipes["two"], recipes["one"]]]
        for build in [both.submit(workshop.build, each) for each in asked]:
            build.result()
    assert calls.read_text().count("x") == 2
    assert files_of(workshop, recipes) == ["one", "two"]
    assert not caches.exists()


def test_given_another_build_under_way_then_go_s_caches_are_left_to_it(
    tmp_path: Path, recipes: dict[str, Recipe]
) -> None:
    workshop = a_workshop(tmp_path)
    with together(workshop.cache / "builds.lock", when_last=lambda: None):
        workshop.build([recipes["one"]])
        workshop.build([])
        assert (workshop.cache / ".building").exists()
    workshop.build([recipes["two"]])
    assert not (workshop.cache / ".building").exists()


def test_given_no_module_cache_at_home_then_none_is_left_there(
    tmp_path: Path, recipes: dict[str, Recipe], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    for name in ("GOPATH", "GOMODCACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    workshop = a_workshop(tmp_path)
    workshop.build([recipes["one"]])
    assert [path for path in home.rglob("*") if "mod" in path.parts] == []
    assert files_of(workshop, recipes) == ["one"]


def _compiler_of(builder: "subprocess.Popen[bytes]") -> int:
    """The pid of `go build`, once it runs."""
    while builder.poll() is None:
        for child in Path(f"/proc/{builder.pid}/task/{builder.pid}/children").read_text().split():
            if _command_of(child)[:2] == [str(GO).encode(), b"build"]:
                return int(child)
        time.sleep(0.005)
    raise AssertionError("go never ran")


def _command_of(pid: str) -> list[bytes]:
    """Nothing once it has ended: `go env`, which comes first, is there for a moment only."""
    with suppress(FileNotFoundError, ProcessLookupError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    return []


def _wait_until_gone(pid: int) -> None:
    while Path(f"/proc/{pid}").exists():
        time.sleep(0.01)
