"""Where are the programs that a cluster is made of? Given, built before, or built now."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.programs.build import Workshop, is_program
from firebolt_local.programs.recipes import KUBERNETES, NEWEST, RECIPES, Recipe, recipes_with
from firebolt_local.programs.toolchain import find_go

ASSETS_VARIABLE = "KUBEBUILDER_ASSETS"
KUBERNETES_VARIABLE = "FIREBOLT_KUBERNETES"
CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
SIMULATED_PODS = ("kwok",)
CERTIFICATES = ("cert-manager",)
FOR_SIMULATED_DEMO = (*CONTROL_PLANE, *SIMULATED_PODS, "kubectl")
FOR_TESTS = (*FOR_SIMULATED_DEMO, "helm", *CERTIFICATES)
RUNTIME = ("containerd", "containerd-shim-runc-v2", "ctr")
NODE = (*RUNTIME, "kubelet", "kube-proxy")
IN_IMAGES = ("coredns", "local-path-provisioner", "pause")
FOR_NODES = (*CONTROL_PLANE, *NODE, *IN_IMAGES, "kubectl", "helm")
ALL = tuple(RECIPES)


def provide(
    names: Iterable[str], *, recipes: Mapping[str, Recipe] | None = None, workshop: Workshop | None = None
) -> dict[str, Path]:
    """Every named program, built if need be, in this order; takes minutes the first time.

    Whoever needs more than one asks for them at once: what they have in common is then compiled once.
    """
    workshop = workshop or default_workshop()
    recipes = recipes or recipes_with(chosen_kubernetes())
    wanted = [recipes[name] for name in names]
    missing = [recipe for recipe in wanted if _find(recipe, workshop) is None]
    workshop.build(missing)
    return {recipe.program: _found(recipe, workshop) for recipe in wanted}


def chosen_kubernetes() -> str:
    version = os.environ.get(KUBERNETES_VARIABLE) or NEWEST
    if version not in KUBERNETES:
        raise LocalError(f"{KUBERNETES_VARIABLE} is {version!r}; there are {', '.join(KUBERNETES)}")
    return version


def default_workshop() -> Workshop:
    cache = cache_folder()
    return Workshop(cache, lambda: find_go(cache, lambda text: _say(text, "\n")), _say)


def cache_folder() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "firebolt-local"


def _find(recipe: Recipe, workshop: Workshop) -> Path | None:
    assets = os.environ.get(ASSETS_VARIABLE)
    if assets and is_program(Path(assets) / recipe.program):
        return Path(assets).resolve() / recipe.program
    return workshop.find(recipe)


def _found(recipe: Recipe, workshop: Workshop) -> Path:
    path = _find(recipe, workshop)
    if path is None:
        raise RuntimeError(f"{recipe.program} was built and is not there")
    return path


def _say(text: str, end: str) -> None:
    print(text, end=end, flush=True)
