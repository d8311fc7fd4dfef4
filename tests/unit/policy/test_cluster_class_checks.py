"""What a class of the whole cluster may not say, row by row."""

import pytest

from firebolt_operator.api.cluster_engine_class import ClusterEngineClassSpec
from firebolt_operator.policy.cluster_class_checks import check_cluster_class
from firebolt_operator.refs import Manifest
from tests.support.admission.shared import IDENTIFIER, LACKING, POD, SIZES, Lacking, volume


def errors(template: Manifest) -> list[str]:
    return [str(error) for error in check_cluster_class(ClusterEngineClassSpec(template=template))]


@pytest.mark.parametrize("row", LACKING, ids=lambda row: row.id)
def test_what_a_namespace_may_lack_is_refused(row: Lacking) -> None:
    assert errors(row.template) == [f"{row.path}: Forbidden: {row.detail}"]


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(volume(secret={}), id="plain"),
        pytest.param(volume(projected={"sources": [{"secret": {}}]}), id="projected"),
    ],
)
def test_a_secret_without_a_name_is_one_as_well(template: Manifest) -> None:
    assert errors(template) == [f"{POD}.volumes[0]: Forbidden: {IDENTIFIER}Secret volume"]


def test_owned_fields_are_refused_as_well() -> None:
    assert errors({"spec": {"hostname": "x"}}) == [f"{POD}.hostname: Forbidden: hostname is owned by the operator"]


def test_what_describes_nodes_is_allowed() -> None:
    assert errors(SIZES) == []
    assert check_cluster_class(None) == []
