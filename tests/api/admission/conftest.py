"""One operator that judges one namespace, for all tests of this folder."""

from collections.abc import Iterator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from tests.api.admission.place import Place
from tests.support.namespaces import empty_namespace, make_namespace


@pytest.fixture(scope="module")
def place(control_plane: ControlPlane, crds: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    del crds  # for its effect: our kinds are there
    name = make_namespace(control_plane.http)
    place = Place(control_plane, name, tmp_path_factory.mktemp("operator") / "log")
    # The configurations first, as a half-started install has them: nobody serves yet, and it heals by itself.
    place.install()
    try:
        place.start()
        yield place
    finally:
        place.stop()
        place.uninstall()
        empty_namespace(control_plane.http, name)
