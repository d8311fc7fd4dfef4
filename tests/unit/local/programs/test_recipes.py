"""Does the cache notice every change that would change a program?"""

from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.programs.provision import CONTROL_PLANE, SIMULATED_PODS
from firebolt_local.programs.recipes import RECIPES, GoModule, pinned_version


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
    others = [replace(module, tags=("one",)), replace(module, linker_flags=("-X a=b",))]
    assert len({module.fingerprint(), *(other.fingerprint() for other in others)}) == 3


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


def test_given_kubernetes_then_it_is_told_its_own_version() -> None:
    flags = " ".join(RECIPES["kube-apiserver"].module.linker_flags)
    assert "version.gitVersion=v1.36.3" in flags
    assert "version.gitMajor=1" in flags
    assert "version.gitMinor=36" in flags


def test_every_program_of_a_cluster_has_a_recipe_whose_module_is_here() -> None:
    for name in CONTROL_PLANE + SIMULATED_PODS:
        assert (RECIPES[name].module.folder / "go.sum").is_file()
