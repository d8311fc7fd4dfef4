"""Somebody who turns authentication on, and looks at what becomes of it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from firebolt_operator.api.conditions import Condition, find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import EVENTS, FIREBOLT_ENGINES, FIREBOLT_INSTANCES, SECRETS, STATEFULSETS
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from tests.api.auth.running import Operator
from tests.api.instance.person import Person

SECONDS: Final = 90.0
ADMIN: Final = "admin-credentials"
PASSWORD: Final = "correct horse battery staple"
LOCAL: Final[Manifest] = {
    "admin": {"password": {"name": ADMIN, "key": "password"}},
    "signingKeys": {
        "certManager": {"issuerRef": {"name": "jwt-ca"}},
        "rotationInterval": "720h",
        "retainDuration": "25h",
    },
}
AUTH: Final[Manifest] = {"enabled": True, "local": LOCAL}


@dataclass(frozen=True, slots=True)
class Administrator(Person):
    async def turn_auth_on(self) -> None:
        """For a new instance; it has a key when this is over."""
        await self.make_password()
        await self.make_instance(auth=AUTH)
        await self.until_auth("Ready")

    async def make_password(self, text: str = PASSWORD) -> Manifest:
        return await self.make_secret(ADMIN, {"password": text})

    async def change_password(self, text: str) -> None:
        await self.patch(SECRETS, ADMIN, {"stringData": {"password": text}})

    async def make_engine(self, name: str = "eng", replicas: int = 1) -> Manifest:
        return await self.client.create(
            {
                "apiVersion": FIREBOLT_ENGINES.api_version,
                "kind": FIREBOLT_ENGINES.kind,
                "metadata": {"name": name, "namespace": self.namespace},
                "spec": {"instanceRef": "inst", "replicas": replicas},
            }
        )

    async def instance(self) -> FireboltInstance:
        return parse_instance(await self.read(FIREBOLT_INSTANCES, "inst"))

    async def until_instance(
        self, wanted: Callable[[FireboltInstance], Any], operator: Operator | None = None
    ) -> FireboltInstance:
        """Asks the server; an operator that is given is told not to rest meanwhile."""
        found = await self.instance()
        try:
            async with asyncio.timeout(SECONDS):
                while not wanted(found := await self.instance()):
                    await asyncio.sleep(0.1)
                    if operator is not None:
                        operator.nudge()
        except TimeoutError as err:
            raise AssertionError(f"it never came to that; the last status was {found.status}") from err
        return found

    async def until_auth(self, reason: str, operator: Operator | None = None) -> Condition:
        def says_so(instance: FireboltInstance) -> bool:
            found = _said(instance)
            return found is not None and found.reason == reason

        found = _said(await self.until_instance(says_so, operator))
        assert found is not None
        return found

    async def until_keys(self, operator: Operator, **phases: str) -> FireboltInstance:
        """By id, with underscores: signing_1="Active"."""
        wanted = {name.replace("_", "-"): phase for name, phase in phases.items()}
        return await self.until_instance(lambda instance: key_phases(instance) == wanted, operator)

    async def statefulset(self, generation: int, engine: str = "eng") -> Manifest:
        found = await self.until(STATEFULSETS, f"{engine}-g{generation}", lambda each: each is not None)
        assert found is not None
        return found

    async def until_engine(self, wanted: Callable[[Manifest], Any], name: str = "eng") -> Manifest:
        found = await self.until(FIREBOLT_ENGINES, name, lambda each: each is not None and bool(wanted(each)))
        assert found is not None
        return found

    async def until_serving(self, generation: int, name: str = "eng") -> Manifest:
        def serves(engine: Manifest) -> bool:
            status = engine.get("status", {})
            return (status.get("activeGeneration"), status.get("phase")) == (generation, "stable")

        return await self.until_engine(serves, name)

    async def until_stalled(self, operator: Operator) -> None:
        """Somebody was told that a rotation does not get on."""
        async with asyncio.timeout(SECONDS):
            while not await self.events("SigningKeyRotationStalled"):
                operator.nudge()
                await asyncio.sleep(0.1)

    async def events(self, reason: str) -> list[str]:
        found = await self.client.list(Scope(resource=EVENTS, namespace=self.namespace))
        return [each["note"] for each in found if each["reason"] == reason]


def _said(instance: FireboltInstance) -> Condition | None:
    return find_condition(instance.status.conditions, "AuthReady")


def key_phases(instance: FireboltInstance) -> dict[str, str]:
    auth = instance.status.auth
    return {key.id: key.phase for key in auth.signing_keys} if auth else {}
