"""A status that cannot be written: the pass says so, and has done the rest of its work all the same."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES
from firebolt_operator.errors import RejectedError
from firebolt_operator.refs import Manifest, Ref
from tests.api.engine.person import SECONDS, Person
from tests.api.engine.running import Operator, look_again
from tests.api.engine.strangers import BINDINGS, POLICIES, lookalike, owner_of


@asynccontextmanager
async def no_status_of_engines(person: Person) -> AsyncGenerator[None]:
    name = f"no-status-{person.namespace}"
    rule = {
        "apiGroups": [FIREBOLT_ENGINES.group],
        "apiVersions": [FIREBOLT_ENGINES.version],
        "operations": ["UPDATE"],
        "resources": [f"{FIREBOLT_ENGINES.plural}/status"],
    }
    place = {"matchLabels": {"kubernetes.io/metadata.name": person.namespace}}
    specs: dict[str, Manifest] = {
        POLICIES.kind: {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": place},
            "validations": [{"expression": "false", "message": "not now", "reason": "Forbidden"}],
        },
        BINDINGS.kind: {"policyName": name, "validationActions": ["Deny"]},
    }
    made = {
        resource: await person.client.create(
            {
                "apiVersion": resource.api_version,
                "kind": resource.kind,
                "metadata": {"name": name},
                "spec": specs[resource.kind],
            }
        )
        for resource in (POLICIES, BINDINGS)
    }
    try:
        await _until_refused(person)
        yield
    finally:
        for resource in (BINDINGS, POLICIES):
            await person.client.delete(Ref(resource, "", name), uid=made[resource]["metadata"]["uid"])


async def _until_refused(person: Person) -> None:
    """The API server takes a moment to learn of a new policy."""
    async with asyncio.timeout(SECONDS):
        for number in range(10_000):
            try:
                probe = {"status": {"selector": str(number)}}
                await person.patch(FIREBOLT_ENGINES, "probe", probe, subresource="status")
            except RejectedError:
                return
            await asyncio.sleep(0.05)


async def test_a_gate_that_cannot_be_told_fails_the_pass_and_not_the_sweep(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=0)
    await person.make_engine("probe", replicas=0)
    for name in ("eng", "probe"):
        await operator.until_at_rest(0, name)
    await person.edit_engine(template={"metadata": {"labels": {"edited": "yes"}}})
    await operator.until_at_rest(1)
    engine = await person.read(FIREBOLT_ENGINES, "eng")
    async with no_status_of_engines(person):
        await person.edit_engine(template={"spec": {"hostname": "x"}})
        await operator.sees(lambda: any("not now" in run.error for run in operator.engines.ended("eng")))
        failed = next(run for run in operator.engines.ended("eng") if run.error)
        assert look_again(failed) == "backoff"
        await person.client.create(lookalike(person, CONFIG_MAPS, "leftover", "0", owner=owner_of(engine)))
        await person.until_gone(CONFIG_MAPS, "leftover")
    await operator.until_reason("TemplateRejected")
