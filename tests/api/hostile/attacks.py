"""Attacks of one tenant that can be put up while the operator runs, each with whatever it takes."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Final

from bench.support.crowd import for_each
from firebolt_local.cluster.scrape import Behaviour, Mode
from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, FIREBOLT_INSTANCES, PODS
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest, Ref
from tests.api.hostile.arena import OPERATORS_NAMESPACE, Arena, spread
from tests.api.hostile.good_engines import POLICY, SECONDS
from tests.api.hostile.traps import INSTANCE, manifest, operators_account, sorts
from tests.support.deep import indented_at_length, with_managed_fields
from tests.support.raw import create_raw, patch_raw

TENANT: Final = "tenant"
NEIGHBOURS: Final = "good"
"""Of the engines that are to suffer."""
OF_EACH: Final = 5
HANGING: Final = 24
Attack = Callable[[Arena], Awaitable[object]]


def of_sorts(*names: str) -> Attack:
    """Some of every sort whose name begins like one of these."""

    async def put_up(arena: Arena) -> None:
        chosen = [sort for sort in sorts() if sort.name.startswith(names)]
        assert chosen, f"no sort is called {names}"
        is_from_before = any(sort.is_from_before for sort in chosen)
        if is_from_before:
            arena.loosen()
        await arena.put_up(spread(chosen, [TENANT], OF_EACH))
        if is_from_before:
            await arena.tighten()

    return put_up


async def take_the_operators_account(arena: Arena) -> None:
    await arena.put_up([operators_account(OPERATORS_NAMESPACE, "thief")])


async def claim_to_be_of_every_engine(arena: Arena) -> None:
    """In the namespace of the others, under the label of each: no right on our kinds is needed."""

    async def once(number: int) -> None:
        labels = {"labels": {LABEL_ENGINE: f"eng-{number:02}"}}
        body = with_managed_fields(manifest(CONFIG_MAPS, NEIGHBOURS, f"hostile-{number}", metadata=labels))
        await create_raw(arena.client, CONFIG_MAPS, NEIGHBOURS, body)

    await for_each(20, once)


async def hang(arena: Arena) -> None:
    """Pods that take the question for their metrics and never answer."""
    engines = [f"hang-{number}" for number in range(HANGING)]
    for name in engines:
        spec = {"instanceRef": INSTANCE, "replicas": 1, "autoStop": POLICY}
        await arena.client.create(manifest(FIREBOLT_ENGINES, TENANT, name, spec=spec))
    pods = await _running_pods(arena, set(engines))
    for pod in pods:
        await asyncio.to_thread(arena.scrape.set, TENANT, pod, Behaviour(mode=Mode.BLACK_HOLE))


async def _running_pods(arena: Arena, engines: set[str]) -> list[str]:
    scope = Scope(resource=PODS, namespace=TENANT, labels=LABEL_ENGINE)
    async with asyncio.timeout(SECONDS):
        while True:
            found = [each for each in await arena.client.list(scope) if _engine_of(each) in engines]
            running = [each["metadata"]["name"] for each in found if each.get("status", {}).get("podIP")]
            if len(running) == len(engines):
                return running
            await asyncio.sleep(0.2)


def _engine_of(pod: Manifest) -> str:
    return str(pod["metadata"]["labels"][LABEL_ENGINE])


async def lengthy_engines(arena: Arena) -> None:
    """As many as there are workers, and as deep as they may be: rendered, each would be hundreds of mebibytes."""
    config = indented_at_length(levels=900, zeros=250_000)

    async def once(number: int) -> None:
        spec = {"instanceRef": INSTANCE, "replicas": 1, "customEngineConfig": config}
        await arena.client.create(manifest(FIREBOLT_ENGINES, TENANT, f"lengthy-{number}", spec=spec))

    await for_each(16, once)


async def lose_ones_own_instance(arena: Arena) -> None:
    """The one that all engines of the tenant refer to turns unreadable, with its pods running."""
    harm = with_managed_fields({}, FIREBOLT_INSTANCES.api_version)
    await patch_raw(arena.client, Ref(FIREBOLT_INSTANCES, TENANT, INSTANCE), harm)


ATTACKS: Final[Mapping[str, Attack]] = {
    "hanging metrics": hang,
    "deep engines": of_sorts("deep-engine"),
    "deep classes and instances": of_sorts("deep-class", "deep-instance"),
    "deep objects with our labels": of_sorts("deep-configmap", "deep-service", "deep-statefulset", "deep-secret"),
    "deep roles and deployments": of_sorts("deep-role", "deep-deployment", "deep-poddisruptionbudget"),
    "deep objects beside the engines": claim_to_be_of_every_engine,
    "durations, numbers and types from before": of_sorts("digits", "many", "active", "odd", "untyped"),
    "malformed settings": of_sorts("soon", "nowhere", "classless"),
    "stamps from before all time": of_sorts("early"),
    "templates that reach for secrets": of_sorts("reader", "mounter", "sidecar"),
    "templates that are refused": of_sorts("refused", "owned", "bad-class", "port", "times"),
    "configurations that would become very long": lengthy_engines,
    "foreign objects of our names": of_sorts("foreign-"),
    "the operator's own account": take_the_operators_account,
    "an instance that turns unreadable": lose_ones_own_instance,
}
