"""Does a real API server take every file of examples/, with no field that it does not know?"""

from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.support.kubectl import kubectl

REPOSITORY = Path(__file__).parents[3]
EXAMPLES = sorted(REPOSITORY.glob("examples/*.yaml"))


@pytest.mark.usefixtures("crds")
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_an_example_is_applied(example: Path, control_plane: ControlPlane, namespace: str) -> None:
    words = ["--namespace", namespace, "apply", "--validate=strict", "--filename", str(example)]
    told = kubectl(control_plane.kubeconfig, words)
    assert told.count(" created") == example.read_text().count("\nkind: ")


def test_every_example_is_on_the_page_of_examples() -> None:
    page = (REPOSITORY / "docs/examples.md").read_text()
    assert [example.name for example in EXAMPLES if f"(../examples/{example.name})" not in page] == []
    assert len(EXAMPLES) >= 10
