"""A real control plane for every test that concerns Kubernetes, started once, on first use."""

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.pod_network import PodNetwork
from firebolt_local.cluster.scrape import ScrapeControl
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.programs import provision
from firebolt_local.testing.namespaces import empty_namespace, make_namespace
from tests.support.crds import install_crds

pytest_plugins = ["tests.support.strictness", "tests.support.alone", "tests.support.order"]
HERE = Path(__file__).parent
CONTROLLERS = ("*", "-endpoints-controller", "-endpointslice-mirroring-controller")
"""All but those for Endpoints, which nobody here reads and which were a twelfth of all requests: we go by slices."""
StartControlPlane = Callable[..., ControlPlane]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Build the programs before the clock of any test runs: the first time takes longer than a test may."""
    uses_them = any(item.path.is_relative_to(HERE / "api") for item in session.items)
    if uses_them and not session.config.option.collectonly:
        provision.provide(provision.FOR_TESTS)


@pytest.fixture(scope="session")
def built_programs() -> dict[str, Path]:
    """Everything a control plane runs."""
    return provision.provide(provision.CONTROL_PLANE + provision.SIMULATED_PODS)


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory, built_programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """Shared by the whole run: do not kill it, take `fresh_control_plane` for that."""
    folder = tmp_path_factory.mktemp("control-plane")
    options = Options(folder=folder, controllers=CONTROLLERS, simulated_pods=True)
    plane = ControlPlane(options, built_programs).start()
    yield plane
    plane.stop()


@pytest.fixture(scope="session")
def crds(control_plane: ControlPlane) -> None:
    """Our kinds are on the shared control plane."""
    install_crds(control_plane.kubeconfig)


@pytest.fixture(scope="session")
def simulated_pods(control_plane: ControlPlane, built_programs: dict[str, Path]) -> SimulatedPods:
    """Pods of the shared control plane run, as far as the API can tell; see docs/dev/simulated-pods.md."""
    return SimulatedPods(control_plane, built_programs).start()


@pytest.fixture(scope="session")
def scraped_pods(simulated_pods: SimulatedPods) -> SimulatedPods:
    """The same pods: `.scrape` decides what they answer on their metrics port. Take `scrape` to have orders undone."""
    return simulated_pods


@pytest.fixture(scope="session")
def pod_network(simulated_pods: SimulatedPods) -> PodNetwork:
    """Commands run with its prefix reach simulated pods by address."""
    if os.geteuid() != 0:
        pytest.skip("a network namespace needs root")
    return simulated_pods.open_network()


@pytest.fixture
def scrape(simulated_pods: SimulatedPods) -> Iterator[ScrapeControl]:
    """What pods answer when they are scraped; every test begins with idle pods that answer."""
    simulated_pods.scrape.reset()
    yield simulated_pods.scrape
    simulated_pods.scrape.reset()


@pytest.fixture
def fresh_control_plane(tmp_path: Path, built_programs: dict[str, Path]) -> Iterator[StartControlPlane]:
    """Start control planes of one's own: `fresh_control_plane(benchmark_limits=True)`, any field of Options."""
    with ExitStack() as stack:

        def start(**fields: object) -> ControlPlane:
            folder = tmp_path / f"control-plane-{secrets.token_hex(3)}"
            options = Options(folder=folder, **fields)  # type: ignore[arg-type]
            plane = ControlPlane(options, built_programs).start()
            stack.callback(plane.stop)
            return plane

        yield start


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A namespace of this test's own."""
    name = make_namespace(control_plane.http)
    yield name
    empty_namespace(control_plane.http, name)
