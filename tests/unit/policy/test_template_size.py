"""How large may a template be?"""

import pytest

from firebolt_operator.policy.field_errors import Path, aggregate
from firebolt_operator.policy.template_size import MOST_ENTRIES, check_size, manageable
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_template

BASE = Path("spec").child("template")


def of(count: int, where: str) -> Manifest:
    """A template with so many entries in all."""
    entries = [{"name": f"n{number}"} for number in range(count - 1)]
    match where:
        case "volumes":
            return a_template(a_container("side"), volumes=entries)
        case "initContainers":
            return a_template(a_container("side"), initContainers=entries)
        case "containers":
            return a_template(*entries, a_container("side"))
        case "sources":
            return a_template(volumes=[{"name": "all", "projected": {"sources": entries}}])
        case "imagePullSecrets" | "hostAliases" | "topologySpreadConstraints" | "tolerations":
            pod: Manifest = {where: entries}
            return a_template(a_container("side"), **pod)
        case _:
            return a_template(initContainers=[a_container("first", **{where: entries})])


@pytest.mark.parametrize(
    "where",
    [
        "volumes",
        "containers",
        "initContainers",
        "env",
        "envFrom",
        "volumeMounts",
        "ports",
        "args",
        "sources",
        "imagePullSecrets",
        "hostAliases",
        "topologySpreadConstraints",
        "tolerations",
    ],
)
def test_every_entry_counts(where: str) -> None:
    most, more = of(MOST_ENTRIES, where), of(MOST_ENTRIES + 1, where)
    assert (check_size(most, BASE), manageable(most)) == ([], most)
    assert manageable(more) is None
    assert aggregate(check_size(more, BASE)) == (
        "spec.template.spec: Forbidden: more than 10000 containers, volumes, mounts and other entries of lists in all;"
        " remove some"
    )


@pytest.mark.parametrize(
    "template", [None, {}, {"spec": None}, {"spec": {"containers": 5, "volumes": [{"projected": 5}]}}]
)
def test_what_is_no_template_has_nothing(template: Manifest | None) -> None:
    assert (check_size(template, BASE), manageable(template)) == ([], template)
