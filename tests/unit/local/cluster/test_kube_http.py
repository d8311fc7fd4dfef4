"""What does an object say of itself, at every age?"""

import pytest

from firebolt_local.cluster.kube_http import has_condition
from firebolt_operator.refs import Manifest


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param({"status": {"conditions": [{"type": "Established", "status": "True"}]}}, True, id="it-is-so"),
        pytest.param({"status": {"conditions": [{"type": "Established", "status": "False"}]}}, False, id="it-is-not"),
        pytest.param({"status": {"conditions": [{"type": "Other", "status": "True"}]}}, False, id="another"),
        pytest.param({"status": {"conditions": None}}, False, id="a-definition-that-was-just-made"),
        pytest.param({}, False, id="nothing"),
    ],
)
def test_a_condition_is_true_only_if_it_says_so(status: Manifest, expected: bool) -> None:
    assert has_condition(status, "Established") is expected
