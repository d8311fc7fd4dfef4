"""One operator that judges one namespace, for all tests of this folder."""

from collections.abc import Iterator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.admission.place import Place, running_place


@pytest.fixture(scope="package")
def place(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with running_place(control_plane, tmp_path_factory.mktemp("operator") / "log") as place:
        yield place
