"""Does the cache notice every change that would change a program?"""

import re
from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.programs.build import Workshop
from firebolt_local.programs.provision import ALL, FOR_NODES, FOR_TESTS, KUBERNETES_VARIABLE, chosen_kubernetes
from firebolt_local.programs.recipes import (
    KUBERNETES,
    NEWEST,
    RECIPES,
    Companions,
    Project,
    kubernetes_release,
    pinned_version,
    recipes_with,
)
from firebolt_local.programs.toolchain import OLDEST


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "go.mod").write_text("module sample\n\nrequire example.org/thing v1.2.3\n")
    (tmp_path / "go.sum").write_text("")
    (tmp_path / "main.go").write_text("package main\n")
    return Project("sample", tmp_path)


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_given_a_changed_file_then_the_fingerprint_changes(project: Project, file: str) -> None:
    before = project.fingerprint()
    assert project.fingerprint() == before
    with (project.folder / file).open("a") as handle:
        handle.write("// more\n")
    assert project.fingerprint() != before


def test_given_other_flags_then_the_fingerprint_changes(project: Project) -> None:
    others = [
        replace(project, tags=("one",)),
        replace(project, linker_flags=("-X a=b",)),
        replace(project, companions=Companions("example.org/thing", "*.yaml")),
    ]
    assert len({project.fingerprint(), *(other.fingerprint() for other in others)}) == 4


def test_given_content_moved_between_files_then_the_fingerprint_changes(project: Project) -> None:
    before = project.fingerprint()
    text = (project.folder / "main.go").read_text()
    (project.folder / "main.go").write_text("")
    (project.folder / "zebra.go").write_text(text)
    assert project.fingerprint() != before


def test_given_a_pinned_project_then_its_version_is_read_from_the_module(project: Project) -> None:
    assert pinned_version(project.folder, "example.org/thing") == "1.2.3"
    with pytest.raises(RuntimeError, match="requires no"):
        pinned_version(project.folder, "example.org/other")


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_given_a_kubernetes_then_it_is_told_its_own_version(version: str) -> None:
    flags = recipes_with(version)["kube-apiserver"].project.linker_flags
    major, minor = version.split(".")
    assert f"-X k8s.io/component-base/version.gitVersion=v{kubernetes_release(version)}" in flags
    assert kubernetes_release(version).startswith(f"{version}.")
    assert f"-X k8s.io/component-base/version.gitMajor={major}" in flags
    assert f"-X k8s.io/component-base/version.gitMinor={minor}" in flags


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_every_program_of_a_cluster_has_a_recipe_whose_module_is_here(version: str) -> None:
    assert {*FOR_TESTS, *FOR_NODES} == set(ALL)
    for name in ALL:
        assert (recipes_with(version)[name].project.folder / "go.sum").is_file()


def test_all_programs_of_the_newest_kubernetes_share_one_module() -> None:
    """Otherwise what they have in common is compiled more than once, and in several versions."""
    assert {recipe.project.folder for recipe in RECIPES.values()} == {KUBERNETES[NEWEST]}


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_libraries_of_kubernetes_are_those_of_its_own_release(version: str) -> None:
    text = (KUBERNETES[version] / "go.mod").read_text()
    _, _, patch = kubernetes_release(version).partition(".")
    released = re.findall(r"^\t(\S+) => (\S+) v(\S+)$", text, re.MULTILINE)
    libraries = {name: pinned for name, _, pinned in released if name.startswith("k8s.io/") and "openapi" not in name}
    assert set(libraries.values()) == {f"0.{patch}"}
    asked_for = set(re.findall(r"^\t(k8s\.io/\S+) v0\.\d+\.\d+(?: // indirect)?$", text, re.MULTILINE))
    assert asked_for <= set(libraries)


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_given_the_oldest_go_then_it_takes_the_modules(version: str) -> None:
    asked_for = re.search(r"^go (\S+)$", (KUBERNETES[version] / "go.mod").read_text(), re.MULTILINE)
    assert asked_for is not None
    assert tuple(int(part) for part in asked_for[1].split(".")) <= OLDEST


def test_given_a_main_of_our_own_then_only_its_program_depends_on_it(tmp_path: Path, project: Project) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "main.go").write_text("package main\n")
    own = replace(project, main="own")
    before = project.fingerprint(), own.fingerprint()
    (tmp_path / "own" / "main.go").write_text("package main\n\nfunc main() {}\n")
    assert project.fingerprint() == before[0]
    assert own.fingerprint() != before[1]


def test_given_another_kubernetes_then_only_its_own_programs_are_others() -> None:
    cache = Workshop(Path("cache"), Path, lambda _text, _end: None)
    older = recipes_with("1.35")
    others = {name for name, each in RECIPES.items() if cache.folder(each.project) != cache.folder(older[name].project)}
    assert others == {"kubectl", "kubelet", *(name for name in RECIPES if name.startswith("kube-"))}


def test_given_the_name_of_a_kubernetes_then_it_is_the_one_that_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KUBERNETES_VARIABLE, raising=False)
    assert chosen_kubernetes() == NEWEST
    monkeypatch.setenv(KUBERNETES_VARIABLE, "1.35")
    assert chosen_kubernetes() == "1.35"
    monkeypatch.setenv(KUBERNETES_VARIABLE, "1.12")
    with pytest.raises(LocalError, match=r"FIREBOLT_KUBERNETES is '1\.12'; there are 1\.36, 1\.35"):
        chosen_kubernetes()
