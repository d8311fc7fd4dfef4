"""A cluster with real containers, once for all end-to-end tests; what they counted is printed at the end."""

import asyncio
import os
import secrets
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import ExitStack, asynccontextmanager, nullcontext

import pytest
from _pytest.capture import CaptureManager
from _pytest.terminal import TerminalReporter

from firebolt_local.cluster.cert_manager import CertManager
from firebolt_local.node.packages import missing_packages
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from tests.e2e.counts import Count
from tests.e2e.environment import Environment, audit_log, lasting_environment, own_environment
from tests.e2e.informer import WATCHED, Informer
from tests.e2e.refusals import missing_rights_in
from tests.e2e.scenario import Scenario
from tests.e2e.secure_scenario import SecureScenario
from tests.e2e.secured import NAMESPACE as SECURED
from tests.e2e.secured import secured_place

CLUSTER_VARIABLE = "FIREBOLT_E2E_CLUSTER"  # a cluster of that name is used, made if need be, and left running
INSTALL_VARIABLE = "FIREBOLT_E2E_INSTALL"  # set it, and missing system packages are installed, as `make e2e` does
_COUNTS: list[Count] = []


@pytest.fixture(scope="session")
def may_run_containers() -> None:
    if os.geteuid() != 0:
        pytest.skip("a cluster that runs containers needs root")
    if (missing := missing_packages()) and not os.environ.get(INSTALL_VARIABLE):
        pytest.skip(f"not installed: {' '.join(missing)}; make e2e installs them")


@pytest.fixture(scope="session")
def environment(request: pytest.FixtureRequest, may_run_containers: None) -> Generator[Environment]:  # noqa: ARG001
    capture = request.config.pluginmanager.getplugin("capturemanager")
    name = os.environ.get(CLUSTER_VARIABLE, "")
    with ExitStack() as stack:
        # It takes a minute or two: whoever waits sees how far it is.
        with capture.global_and_fixture_disabled() if isinstance(capture, CaptureManager) else nullcontext():
            print()
            before = audit_log(name).stat().st_size if name and audit_log(name).exists() else 0
            standing = stack.enter_context(nullcontext(lasting_environment(name)) if name else own_environment())
        yield standing
        assert missing_rights_in(audit_log(standing.cluster.name), before) == [], "the chart grants too little"


@pytest.fixture
async def client(environment: Environment) -> AsyncGenerator[KubeClient]:
    async with KubeClient.from_credentials(load_credentials(str(environment.cluster.kubeconfig), {})) as client:
        yield client


@pytest.fixture
async def scenario(
    environment: Environment, client: KubeClient, request: pytest.FixtureRequest
) -> AsyncGenerator[Scenario]:
    """In the namespace of the instance that most tests share; the engines of a test go with it."""
    informer = Informer(time.monotonic)
    scenario = Scenario(environment, client, informer, str(request.node.name), _COUNTS)
    async with _watched(scenario):
        yield scenario


@pytest.fixture(scope="module")
def cert_manager(environment: Environment, tmp_path_factory: pytest.TempPathFactory) -> Generator[CertManager]:
    with secured_place(environment, tmp_path_factory.mktemp("cert-manager")) as manager:
        yield manager


@pytest.fixture
async def secure(
    environment: Environment, client: KubeClient, cert_manager: CertManager, request: pytest.FixtureRequest
) -> AsyncGenerator[SecureScenario]:
    """In a namespace with issuers; the instance of a test goes with it."""
    informer, name = Informer(time.monotonic, (*WATCHED, CERTIFICATES, SECRETS)), f"secure-{secrets.token_hex(2)}"
    scenario = SecureScenario(
        environment, client, informer, str(request.node.name), _COUNTS, SECURED, name, 100.0, manager=cert_manager
    )
    async with _watched(scenario):
        yield scenario


@asynccontextmanager
async def _watched(scenario: Scenario) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(scenario.informer.run(scenario.client, scenario.namespace), name="informer")
        try:
            yield
            await scenario.leave()
        finally:
            watching.cancel()


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    if not _COUNTS:
        return
    terminalreporter.section("queries")
    for count in _COUNTS:
        terminalreporter.write_line(str(count))
