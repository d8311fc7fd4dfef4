"""Classes that somebody deletes, and the engines that name them meanwhile."""

from dataclasses import dataclass
from typing import Final

import pytest

from firebolt_operator.refs import Manifest
from tests.support.admission.case import an_object

LABEL: Final = {"tried": "deletion"}
PAGE: Final = 500  # engines to one page of a list


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    id: str
    bound: int = 0  # engines beside the class that name it
    others: int = 0  # engines beside it that name another, listed before those
    elsewhere: int = 0  # engines of another namespace that name one of this name

    @property
    def says(self) -> str:
        return f"is referenced by {self.bound} FireboltEngine(s); clear spec.engineClassRef on those engines"

    def engine_class(self, namespace: str) -> Manifest:
        return an_object("FireboltEngineClass", "used", namespace, {"template": {}})

    def engines(self, namespace: str, elsewhere: str) -> list[Manifest]:
        return [
            *(_engine(f"a{number}", namespace, "plain") for number in range(self.others)),
            *(_engine(f"z{number}", namespace, "used") for number in range(self.bound)),
            *(_engine(f"z{number}", elsewhere, "used") for number in range(self.elsewhere)),
        ]


def _engine(name: str, namespace: str, engine_class: str) -> Manifest:
    spec = {"instanceRef": "nowhere", "replicas": 0, "engineClassRef": engine_class}
    engine = an_object("FireboltEngine", name, namespace, spec)
    return {**engine, "metadata": {**engine["metadata"], "labels": LABEL}}


DELETIONS: Final = (
    Deletion(id="in use", bound=2, others=1, elsewhere=1),
    Deletion(id="in use by one", bound=1),
    Deletion(id="in use elsewhere", elsewhere=2),
    Deletion(id="in use by nobody"),
    Deletion(id="in use by the last of many", bound=1, others=PAGE + 1),
)
each_deletion: Final = pytest.mark.parametrize(
    "deletion",
    [pytest.param(each, id=each.id, marks=[pytest.mark.slow] if each.others > PAGE else []) for each in DELETIONS],
)
