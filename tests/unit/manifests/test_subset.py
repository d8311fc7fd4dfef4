from typing import Any

import pytest

from firebolt_operator.manifests.subset import is_subset

LIVE: dict[str, Any] = {
    "metadata": {"labels": {"a": "1", "foreign": "x"}},
    "spec": {
        "ports": [{"name": "http", "port": 80, "protocol": "TCP"}],
        "resources": {"requests": {"memory": "1Gi", "cpu": "500m"}},
        "flag": False,
        "volumes": [{"emptyDir": {"sizeLimit": "1Gi"}}],
    },
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        pytest.param({}, True, id="nothing-wanted-is-always-there"),
        pytest.param({"metadata": {"labels": {"a": "1"}}}, True, id="foreign-keys-do-not-matter"),
        pytest.param({"metadata": {"labels": {"a": "2"}}}, False, id="a-changed-value-matters"),
        pytest.param({"metadata": {"labels": {"b": "1"}}}, False, id="a-missing-key-matters"),
        pytest.param(
            {"spec": {"ports": [{"name": "http", "port": 80}]}}, True, id="defaulted-fields-in-lists-are-fine"
        ),
        pytest.param({"spec": {"volumes": [{"emptyDir": {"sizeLimit": "1024Mi"}}]}}, True, id="a-limit-by-value"),
        pytest.param({"spec": {"volumes": [{"emptyDir": {"sizeLimit": "1023Mi"}}]}}, False, id="another-limit"),
        pytest.param({"spec": {"ports": []}}, False, id="an-extra-element-matters"),
        pytest.param({"spec": {"absent": []}}, True, id="an-empty-list-is-stored-as-absent"),
        pytest.param(
            {"spec": {"resources": {"requests": {"memory": "1024Mi", "cpu": 0.5}}}}, False, id="not-a-quantity"
        ),
        pytest.param({"spec": {"resources": {"requests": {"memory": "1024Mi", "cpu": "0.5"}}}}, True, id="by-value"),
        pytest.param({"spec": {"flag": 0}}, False, id="zero-is-not-false"),
        pytest.param({"metadata": {"labels": "a"}}, False, id="another-type-matters"),
    ],
)
def test_subset(wanted: dict[str, Any], expected: bool) -> None:
    assert is_subset(wanted, LIVE) is expected
