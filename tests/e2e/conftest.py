"""A cluster with real containers, once for all end-to-end tests; what they counted is printed at the end."""

import asyncio
import os
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, nullcontext

import pytest
from _pytest.capture import CaptureManager
from _pytest.terminal import TerminalReporter

from firebolt_local.node.packages import missing_packages
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from tests.e2e.counts import Count
from tests.e2e.place import NAMESPACE, Place, lasting_place, own_place
from tests.e2e.scene import Scene
from tests.e2e.sight import Sight

CLUSTER_VARIABLE = "FIREBOLT_E2E_CLUSTER"  # a cluster of that name is used, made if need be, and left running
INSTALL_VARIABLE = "FIREBOLT_E2E_INSTALL"  # set it, and missing system packages are installed, as `make e2e` does
_COUNTS: list[Count] = []


@pytest.fixture(scope="session")
def place(request: pytest.FixtureRequest) -> Generator[Place]:
    if os.geteuid() != 0:
        pytest.skip("a cluster that runs containers needs root")
    if (missing := missing_packages()) and not os.environ.get(INSTALL_VARIABLE):
        pytest.skip(f"not installed: {' '.join(missing)}; make e2e installs them")
    capture = request.config.pluginmanager.getplugin("capturemanager")
    name = os.environ.get(CLUSTER_VARIABLE, "")
    with ExitStack() as stack:
        # It takes a minute or two: whoever waits sees how far it is.
        with capture.global_and_fixture_disabled() if isinstance(capture, CaptureManager) else nullcontext():
            print()
            standing = stack.enter_context(nullcontext(lasting_place(name)) if name else own_place())
        yield standing


@pytest.fixture
async def client(place: Place) -> AsyncGenerator[KubeClient]:
    async with KubeClient.from_credentials(load_credentials(str(place.cluster.kubeconfig), {})) as client:
        yield client


@pytest.fixture
async def scene(place: Place, client: KubeClient, request: pytest.FixtureRequest) -> AsyncGenerator[Scene]:
    """In the namespace of the instance that most tests share; the engines of a test go with it."""
    sight = Sight(time.monotonic)
    scene = Scene(place, client, sight, str(request.node.name), _COUNTS)
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(sight.watch(client, NAMESPACE), name="sight")
        try:
            yield scene
            await scene.leave()
        finally:
            watching.cancel()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    if not _COUNTS:
        return
    terminalreporter.section("queries")
    for count in _COUNTS:
        terminalreporter.write_line(str(count))
