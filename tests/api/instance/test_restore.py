"""Everything that an instance owns comes back when it is lost, as it was, and no engine rolls because of it.

The time at which the operator would look again by itself never comes in these tests: only events bring anything back.
"""

import asyncio
import copy
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from datetime import timedelta

import pytest

from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.names import LABEL_COMPONENT
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.instance.decide import components as decide
from firebolt_operator.look_again import After
from firebolt_operator.refs import Manifest, Resource
from tests.api.crash.living import a_life, whole_operator
from tests.api.instance.person import Person

NEVER = After(timedelta(days=1))
ELSEWHERE = {"spec": {"selector": {LABEL_COMPONENT: "elsewhere"}}}
CORRUPTIONS: dict[tuple[Resource, str], Manifest] = {
    (STATEFULSETS, "inst-metadata-pg"): {"spec": {"replicas": 0}},
    (SERVICES, "inst-metadata-pg"): ELSEWHERE,
    (CONFIG_MAPS, "inst-metadata-config"): {"data": {"config.xml": "broken"}},
    (DEPLOYMENTS, "inst-metadata"): {
        "spec": {"template": {"metadata": {"annotations": {"firebolt.io/config-hash": ""}}}}
    },
    (SERVICES, "inst-metadata"): ELSEWHERE,
    (SERVICE_ACCOUNTS, "inst-gateway"): {"metadata": {"ownerReferences": []}},
    (ROLES, "inst-gateway"): {"rules": []},
    (ROLE_BINDINGS, "inst-gateway"): {"subjects": []},
    (CONFIG_MAPS, "inst-gateway-config"): {"data": {"envoy.yaml": None}},
    (CONFIG_MAPS, "inst-gateway-accounts"): {"data": {"accounts": ""}},
    (DEPLOYMENTS, "inst-gateway"): {"spec": {"replicas": 5}},
    (SERVICES, "inst-gateway"): ELSEWHERE,
    (POD_DISRUPTION_BUDGETS, "inst-gateway"): {"spec": {"maxUnavailable": 2}},
}
"""All that is applied, and a way to spoil each. Lost credentials are for a person to bring back."""
ASSIGNED = ("clusterIP", "clusterIPs")


def essence(found: Manifest) -> Manifest:
    """What we say of an object, without what the cluster assigns and keeps book of."""
    kept = {key: copy.deepcopy(value) for key, value in found.items() if key not in {"metadata", "status"}}
    if found["kind"] == SERVICES.kind:
        kept["spec"] = {key: value for key, value in kept["spec"].items() if key not in ASSIGNED}
    return {"metadata": {key: found["metadata"].get(key) for key in ("name", "labels", "ownerReferences")}, **kept}


@dataclass(frozen=True, slots=True)
class Fleet:
    """A ready instance with an engine that serves; the whole operator works on both."""

    person: Person

    async def until_well(self) -> None:
        await self.person.until(FIREBOLT_INSTANCES, "inst", lambda found: _phase(found) == "Ready")
        await self.person.until(FIREBOLT_ENGINES, "eng", _serves)

    async def pods_of_the_engine(self) -> set[str]:
        return await self._uids(PODS, "eng-g0-0", "eng-g0-1")

    async def data(self) -> set[str]:
        return await self._uids(PERSISTENT_VOLUME_CLAIMS, "data-inst-metadata-pg-0")

    async def _uids(self, resource: Resource, *names: str) -> set[str]:
        return {(await self.person.read(resource, name))["metadata"]["uid"] for name in names}


def _phase(found: Manifest | None) -> str:
    return str((found or {}).get("status", {}).get("phase", ""))


def _serves(found: Manifest | None) -> bool:
    conditions: list[Manifest] = (found or {}).get("status", {}).get("conditions", [])
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


@pytest.fixture
async def fleet(
    person: Person, simulated_pods: SimulatedPods, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Fleet]:
    monkeypatch.setattr(decide, "REST", NEVER)
    monkeypatch.setattr(decide, "POLL", NEVER)
    async with a_life(simulated_pods.control_plane.kubeconfig, person.namespace, whole_operator):
        await person.make_instance()
        await person.client.create(
            {
                "apiVersion": FIREBOLT_ENGINES.api_version,
                "kind": FIREBOLT_ENGINES.kind,
                "metadata": {"name": "eng", "namespace": person.namespace},
                "spec": {"instanceRef": "inst", "replicas": 2},
            }
        )
        fleet = Fleet(person)
        await fleet.until_well()
        yield fleet
        await person.delete(FIREBOLT_ENGINES, "eng")
        await person.until(FIREBOLT_ENGINES, "eng", lambda found: found is None)
        await person.delete(FIREBOLT_INSTANCES, "inst")
        await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    # TLS connections say goodbye before they close, and nothing tells when they have.
    await asyncio.sleep(0.2)


async def test_every_object_that_is_deleted_comes_back_and_no_engine_rolls(fleet: Fleet) -> None:
    pods, data = await fleet.pods_of_the_engine(), await fleet.data()
    for resource, name in CORRUPTIONS:
        before = await fleet.person.delete(resource, name)

        def is_back(found: Manifest | None, before: Manifest = before) -> bool:
            is_new = found is not None and found["metadata"]["uid"] != before["metadata"]["uid"]
            return found is not None and is_new and essence(found) == essence(before)

        await fleet.person.until(resource, name, is_back)
        await fleet.until_well()
    assert (await fleet.pods_of_the_engine(), await fleet.data()) == (pods, data)


WITHOUT_LABELS: Manifest = {"metadata": {"labels": None}}


@pytest.mark.parametrize(
    "corruptions",
    [
        pytest.param(CORRUPTIONS, id="in-what-it-says"),
        # Without them an object is not even watched any more.
        pytest.param(dict.fromkeys(CORRUPTIONS, WITHOUT_LABELS), id="of-its-labels"),
    ],
)
async def test_every_object_that_is_spoilt_is_put_right_and_no_engine_rolls(
    fleet: Fleet, corruptions: dict[tuple[Resource, str], Manifest]
) -> None:
    pods, data = await fleet.pods_of_the_engine(), await fleet.data()
    for (resource, name), patch in corruptions.items():
        before = essence(await fleet.person.read(resource, name))
        spoilt = await fleet.person.patch(resource, name, patch)
        assert essence(spoilt) != before

        def is_back(found: Manifest | None, before: Manifest = before) -> bool:
            return found is not None and essence(found) == before

        await fleet.person.until(resource, name, is_back)
        await fleet.until_well()
    assert (await fleet.pods_of_the_engine(), await fleet.data()) == (pods, data)


async def test_engines_that_come_roll_and_scale_change_nothing_about_the_gateway(fleet: Fleet) -> None:
    person, places = fleet.person, [place for place in CORRUPTIONS if place[1].startswith("inst-gateway")]

    async def written() -> list[Manifest]:
        found = [await person.read(*place) for place in places]
        return [{**essence(each), "managedFields": each["metadata"]["managedFields"][:1]} for each in found]

    before = await written()
    await person.patch(FIREBOLT_ENGINES, "eng", {"spec": {"replicas": 1}})
    template = {"metadata": {"labels": {"edited": "yes"}}}
    await person.patch(FIREBOLT_ENGINES, "eng", {"spec": {"template": template}})
    await person.until(FIREBOLT_ENGINES, "eng", lambda found: _serves(found) and _observed(found) == 3)
    assert await written() == before


def _observed(found: Manifest | None) -> int:
    return int((found or {})["status"].get("observedGeneration", 0))
