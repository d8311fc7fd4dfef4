"""How long will the rest of a build take? As recorded for each program, scaled by what this machine took so far."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from firebolt_local.programs.recipes import Recipe

_CORES = 2


class Seconds(NamedTuple):
    """About what it takes a machine with two cores and nothing else to do, sources at hand."""

    alone: float
    after_bigger: float  # most of it was compiled for a bigger program


RECORDED: Mapping[str, Seconds] = {
    "etcd": Seconds(30, 10),
    "kube-apiserver": Seconds(165, 60),
    "kube-controller-manager": Seconds(160, 35),
    "kube-scheduler": Seconds(120, 5),
    "kwok": Seconds(80, 22),
    "kubectl": Seconds(85, 25),
    "helm": Seconds(85, 18),
    "cert-manager": Seconds(100, 25),
    "kubelet": Seconds(140, 18),
    "kube-proxy": Seconds(110, 6),
    "containerd": Seconds(55, 35),
    "containerd-shim-runc-v2": Seconds(25, 2),
    "ctr": Seconds(35, 4),
    "coredns": Seconds(50, 18),
    "local-path-provisioner": Seconds(60, 5),
    "pause": Seconds(8, 1),
}
_UNKNOWN = Seconds(30, 10)
# As if so many seconds of recorded work had been measured already: one short program says little.
_CONFIDENCE_SECONDS = 30.0


class Estimate:
    def __init__(self, recipes: Sequence[Recipe], *, cores: int) -> None:
        self._left = _expected_seconds(recipes)
        self._recorded = _CONFIDENCE_SECONDS
        self._measured = _CONFIDENCE_SECONDS * _CORES / cores

    def note(self, recipe: Recipe, seconds: float | None) -> None:
        """It is there; nothing is learned of one that somebody else has built."""
        expected = self._left.pop(recipe.program)
        if seconds is not None:
            self._recorded += expected
            self._measured += seconds

    def left(self) -> str:
        minutes = round(sum(self._left.values()) * self._measured / self._recorded / 60)
        return f"about {minutes} min left" if minutes else "less than a minute left"


def _expected_seconds(recipes: Sequence[Recipe]) -> dict[str, float]:
    expected = dict[str, float]()
    biggest = dict[Path, float]()
    for recipe in recipes:
        recorded, graph = RECORDED.get(recipe.program, _UNKNOWN), recipe.project.folder
        is_bigger = recorded.alone > biggest.get(graph, 0)
        expected[recipe.program] = recorded.alone if is_bigger else recorded.after_bigger
        biggest[graph] = max(recorded.alone, biggest.get(graph, 0))
    return expected
