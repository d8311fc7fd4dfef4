"""A database of the user's own: a real PostgreSQL, and a metadata service that runs on what the operator rendered."""

import base64
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from firebolt_local.cluster.ports import LOOPBACK, free_port
from firebolt_local.standins.engine.metadata_probe import NoAnswerError, metadata_status
from firebolt_local.standins.health_messages import ServingStatus
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import COMPONENT_METADATA, LABEL_COMPONENT
from firebolt_operator.api.resources import CONFIG_MAPS, DEPLOYMENTS, PODS, SECRETS, STATEFULSETS
from firebolt_operator.refs import Manifest
from tests.api.instance.person import Person
from tests.api.instance.running import Operator
from tests.support.standins.postgres import DATABASE, PASSWORD, USER, PostgresServer, running_postgres
from tests.support.standins.programs import eventually, running_program

NOT_READY = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
LOGIN = "db-login"
METADATA_PODS = f"{LABEL_COMPONENT}={COMPONENT_METADATA}"


@pytest.fixture(scope="module")
def postgres() -> Generator[PostgresServer]:
    with running_postgres() as server:
        yield server


@dataclass(frozen=True, slots=True)
class MetadataPod:
    """Plays the kubelet for the one container of the Deployment: mounts, environment, arguments, readiness."""

    person: Person
    root: Path
    container: Manifest
    volumes: dict[str, Manifest]
    endpoint: str

    @classmethod
    async def of(cls, person: Person, root: Path) -> "MetadataPod":
        await person.until(DEPLOYMENTS, "inst-metadata", lambda found: found is not None)
        pod = (await person.read(DEPLOYMENTS, "inst-metadata"))["spec"]["template"]["spec"]
        volumes = {volume["name"]: volume for volume in pod["volumes"]}
        return cls(person, root, pod["containers"][0], volumes, f"{LOOPBACK}:{free_port()}")

    @property
    def log(self) -> Path:
        return self.root / "log"

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        await self.mount()
        values = {each["name"]: each["value"] for each in self.container["env"]}
        files = {name: str(self.root / value[1:]) for name, value in values.items() if name.endswith("_FILE")}
        address = {"STANDIN_ADDRESS": LOOPBACK, "STANDIN_METADATA_PORT": self.endpoint.rpartition(":")[2]}
        _, *arguments = self.container["command"]
        moved = [str(self.root / each[1:]) if each.startswith("/") else each for each in arguments]
        async with running_program("metadata", moved, {**files, **address}, self.log):
            yield

    async def mount(self) -> None:
        """As often as a kubelet looks whether what it mounted has changed."""
        for mount in self.container["volumeMounts"]:
            folder = self.root / mount["mountPath"][1:]
            folder.mkdir(parents=True, exist_ok=True)
            for name, content in (await self._files(self.volumes[mount["name"]])).items():
                (folder / name).write_bytes(content)

    async def _files(self, volume: Manifest) -> dict[str, bytes]:
        if "configMap" in volume:
            data = (await self.person.read(CONFIG_MAPS, volume["configMap"]["name"]))["data"]
            return {name: text.encode() for name, text in data.items()}
        if "secret" in volume:
            data = (await self.person.read(SECRETS, volume["secret"]["secretName"]))["data"]
            return {name: base64.b64decode(text) for name, text in data.items()}
        return {}

    async def until(self, status: ServingStatus) -> None:
        """Then the pod's readiness is what the probe says."""

        async def is_so() -> bool:
            try:
                return await metadata_status(self.endpoint) is status
            except NoAnswerError:
                return False

        await eventually(is_so, f"the metadata service says {status.name}")
        note = None if status is ServingStatus.SERVING else "false"
        for name in await self.person.names(PODS, METADATA_PODS):
            await self.person.patch(PODS, name, {"metadata": {"annotations": {"sim.firebolt.io/ready": note}}})


def metadata_says(instance: FireboltInstance) -> str:
    found = find_condition(instance.status.conditions, "MetadataReady")
    return found.reason if found else ""


async def test_missing_wrong_and_right_credentials_of_a_real_server(
    operator: Operator, person: Person, postgres: PostgresServer, tmp_path: Path
) -> None:
    server = {"host": LOOPBACK, "port": postgres.port, "database": DATABASE, "credentialsSecretRef": {"name": LOGIN}}
    await person.make_instance(metadata={"postgres": server, "template": NOT_READY})
    await operator.until(lambda found: metadata_says(found) == "PostgresSecretPreflightFailed")
    assert await person.names(DEPLOYMENTS) == set()

    await person.make_secret(LOGIN, {"username": USER, "password": "guess"})
    pod = await MetadataPod.of(person, tmp_path)
    async with pod.running():
        await pod.until(ServingStatus.NOT_SERVING)

        async def is_refused() -> bool:
            return "password authentication failed" in pod.log.read_text()

        await eventually(is_refused, "the database has refused the password")
        waiting = await operator.until(lambda found: metadata_says(found) == "Provisioning")
        assert (waiting.status.phase, waiting.status.metadata_endpoint) == ("Provisioning", "")

        before = await person.names(PODS, METADATA_PODS)
        await person.patch(SECRETS, LOGIN, {"stringData": {"password": PASSWORD}})
        await pod.mount()

        async def is_restarted() -> bool:
            now = await person.names(PODS, METADATA_PODS)
            return len(now) == 1 and now.isdisjoint(before)

        await eventually(is_restarted, "the metadata service starts anew with the new password")
        await pod.until(ServingStatus.SERVING)
        ready = await operator.until_ready()
        assert ready.status.metadata_endpoint != ""
        assert await person.names(STATEFULSETS) == set()  # no database of ours beside it
    kept = postgres.run("psql", "-d", DATABASE, "-Atc", "SELECT account_id FROM public.pensieve_account")
    assert kept == ready.spec.id
