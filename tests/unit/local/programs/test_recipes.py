"""Does the cache notice every change that would change a program?"""

from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.programs.build import Workshop
from firebolt_local.programs.provision import CERTIFICATES, FOR_NODES, FOR_TESTS, KUBERNETES_VARIABLE, chosen_kubernetes
from firebolt_local.programs.recipes import (
    KUBERNETES,
    NEWEST,
    RECIPES,
    Companions,
    GoModule,
    kubernetes_release,
    pinned_version,
    recipes_with,
)


@pytest.fixture
def module(tmp_path: Path) -> GoModule:
    (tmp_path / "go.mod").write_text("module sample\n\nrequire example.org/thing v1.2.3\n")
    (tmp_path / "go.sum").write_text("")
    (tmp_path / "main.go").write_text("package main\n")
    return GoModule(tmp_path)


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_given_a_changed_file_then_the_fingerprint_changes(module: GoModule, file: str) -> None:
    before = module.fingerprint()
    assert module.fingerprint() == before
    with (module.folder / file).open("a") as handle:
        handle.write("// more\n")
    assert module.fingerprint() != before


def test_given_other_flags_then_the_fingerprint_changes(module: GoModule) -> None:
    others = [
        replace(module, tags=("one",)),
        replace(module, linker_flags=("-X a=b",)),
        replace(module, companions=Companions("example.org/thing", "*.yaml")),
    ]
    assert len({module.fingerprint(), *(other.fingerprint() for other in others)}) == 4


def test_given_content_moved_between_files_then_the_fingerprint_changes(module: GoModule) -> None:
    before = module.fingerprint()
    text = (module.folder / "main.go").read_text()
    (module.folder / "main.go").write_text("")
    (module.folder / "zebra.go").write_text(text)
    assert module.fingerprint() != before


def test_given_a_pinned_project_then_its_version_is_read_from_the_module(module: GoModule) -> None:
    assert pinned_version(module.folder, "example.org/thing") == "1.2.3"
    with pytest.raises(RuntimeError, match="requires no"):
        pinned_version(module.folder, "example.org/other")


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_given_a_kubernetes_then_it_is_told_its_own_version(version: str) -> None:
    flags = recipes_with(version)["kube-apiserver"].module.linker_flags
    major, minor = version.split(".")
    assert f"-X k8s.io/component-base/version.gitVersion=v{kubernetes_release(version)}" in flags
    assert kubernetes_release(version).startswith(f"{version}.")
    assert f"-X k8s.io/component-base/version.gitMajor={major}" in flags
    assert f"-X k8s.io/component-base/version.gitMinor={minor}" in flags


@pytest.mark.parametrize("version", list(KUBERNETES))
def test_every_program_of_a_cluster_has_a_recipe_whose_module_is_here(version: str) -> None:
    for name in (*FOR_TESTS, *FOR_NODES, *CERTIFICATES):
        assert (recipes_with(version)[name].module.folder / "go.sum").is_file()


def test_given_another_kubernetes_then_only_its_own_programs_are_others() -> None:
    cache = Workshop(Path("cache"), Path, lambda _text, _end: None)
    older = recipes_with("1.35")
    others = {name for name, each in RECIPES.items() if cache.folder(each.module) != cache.folder(older[name].module)}
    assert others == {"kubectl", "kubelet", *(name for name in RECIPES if name.startswith("kube-"))}


def test_given_the_name_of_a_kubernetes_then_it_is_the_one_that_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KUBERNETES_VARIABLE, raising=False)
    assert chosen_kubernetes() == NEWEST
    monkeypatch.setenv(KUBERNETES_VARIABLE, "1.35")
    assert chosen_kubernetes() == "1.35"
    monkeypatch.setenv(KUBERNETES_VARIABLE, "1.12")
    with pytest.raises(LocalError, match=r"FIREBOLT_KUBERNETES is '1\.12'; there are 1\.36, 1\.35"):
        chosen_kubernetes()
