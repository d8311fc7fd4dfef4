"""Which fields of a live pod template are ours to compare."""

import pytest

from firebolt_operator.engine.render.drift.comparison import Element, Path
from firebolt_operator.engine.render.drift.fields import is_known_field


@pytest.mark.parametrize(
    ("path", "is_known"),
    [
        (("spec", "nodeName"), True),
        (("spec", "nodeNameOfTheFuture"), False),
        (("spec", "containers", Element(0, {}), "image"), True),
        (("spec", "containers", Element(0, {}), "imageOfTheFuture"), False),
        (("spec", "containers", Element(0, {}), "resources", "limits", "example.com/gpu"), True),
        (("spec", "nodeSelector", "anything"), True),
        (("spec", "futureObject", "field"), False),
        (("metadata", "labels", "anything"), True),
    ],
)
def test_given_a_path_then_the_schema_tells(path: Path, is_known: bool) -> None:
    assert is_known_field(path) is is_known
