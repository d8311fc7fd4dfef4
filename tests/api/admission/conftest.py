"""One operator that judges one namespace, and the classes of the cluster, for the tests of a file."""

from collections.abc import Iterator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.admission.place import Place, running_place


@pytest.fixture(scope="module")
def place(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """Not longer: no namespace keeps classes of the cluster apart, and other files have some that nobody may judge."""
    with running_place(control_plane, tmp_path_factory.mktemp("operator") / "log") as place:
        yield place
