"""Does explain say why a real engine is not ready, and what mends it?"""

import asyncio
import json
import re

import pytest

from firebolt_local.cluster.scrape import Behaviour, ScrapeControl
from firebolt_operator.api.resources import (
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_ENGINES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, until_scraped
from tests.support.plugin import Plugin

PULL = """\
engine eng: not ready (Rolling), phase creating; nothing serves yet

1. blocks  pod eng-g0-0, container engine: ImagePullBackOff: Back-off pulling image "engine:1.0"
   fix: see that image engine:1.0 exists, that nodes can reach its registry, and that imagePullSecrets of the template
   allow it; then it is pulled without another word

next: It waits until the pod of generation 0 is ready, then sends queries there.
"""
WELL = """\
engine eng: ready, phase stable; generation 0 serves with 2 of 2 pods ready

next: Nothing: the engine is what its spec asks for.
"""
DRAINING = """\
engine eng: not ready (Rolling), phase draining; generation 1 serves with 1 of 1 pods ready

1. waits  generation 0 has been draining for Ns: generation 0 still runs queries
   fix: let its queries end, or end them yourself; spec.drainTimeout would bound it. Queries are answered meanwhile

next: It deletes generation 0 when that runs no query any more. Generation 1 serves meanwhile.
"""
BLOCKED = """\
engine eng: not ready (InstanceNotReady), phase creating; nothing serves yet

1. blocks  instance "inst" is not in this namespace
   fix: create it here, or delete the engine and create it for another: instanceRef cannot be changed

next: It builds generation 0 as soon as the instance is ready.
"""
HELD = """\
engine eng: being deleted

1. blocks  finalizer example.com/backup is not the operator's, and holds it since Ns
   fix: see why the controller that example.com/backup belongs to does not take it off; if that is gone for good, do it
   yourself
   kubectl -n NAMESPACE patch fireboltengine eng --type=merge -p '{"metadata":{"finalizers":[]}}'

next: It deletes what belongs to the engine, then takes its finalizer off, and the engine is gone.
"""


async def explained(plugin: Plugin, subject: str = "eng") -> str:
    """Without what differs from run to run, and without events, which come when they like."""
    told = await asyncio.to_thread(plugin.says, "explain", subject)
    told = re.sub(r"\b\d+s\b", "Ns", told.replace(plugin.namespace, "NAMESPACE"))
    return told.partition("\nwarnings:")[0]


def faulty(**annotations: str) -> Manifest:
    return {
        "template": {"metadata": {"annotations": {f"sim.firebolt.io/{key}": text for key, text in annotations.items()}}}
    }


async def test_an_engine_that_is_well(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    assert await explained(plugin) == WELL
    document = json.loads(await asyncio.to_thread(plugin.says, "explain", "eng", "-o", "json"))
    assert (document["is_well"], document["findings"]) == (True, [])


async def test_an_image_that_cannot_be_pulled(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine(**faulty(fault="ImagePullBackOff"))
    await operator.sees(lambda: "ImagePullBackOff" in str(operator.caches.pods.get((person.namespace, "eng-g0-0"))))
    assert await explained(plugin) == PULL


async def test_no_node_suits_and_the_scheduler_says_so(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine(template={"spec": {"nodeSelector": {"no": "where"}}})
    await operator.sees(lambda: "Unschedulable" in str(operator.caches.pods.get((person.namespace, "eng-g0-0"))))
    told = await explained(plugin)
    assert "1. blocks  pod eng-g0-0: Unschedulable: 0/1 nodes are available" in told
    assert "mend nodeSelector" in told


async def test_a_drain_that_lasts(operator: Operator, person: Person, plugin: Plugin, scrape: ScrapeControl) -> None:
    await person.make_instance()
    await person.make_engine(replicas=1)
    await operator.until_at_rest(0)
    scrape.set(person.namespace, "eng-g0-0", Behaviour(running=1))
    await person.edit_engine(template={"metadata": {"annotations": {"note": "new"}}})
    await operator.until_phase("draining")
    await until_scraped(scrape)
    await operator.until(lambda engine: "still runs queries" in str(engine.status.conditions))
    assert await explained(plugin) == DRAINING


async def test_an_instance_that_is_missing(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_engine()
    await operator.until_reason("InstanceNotReady")
    assert await explained(plugin) == BLOCKED


async def test_a_class_that_is_missing(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine(engineClassRef="nowhere")
    await operator.until_reason("EngineClassMissing", "Stalled")
    told = await explained(plugin)
    assert "1. blocks  EngineClassMissing: FireboltEngineClass referenced by spec.engineClassRef not found" in told
    assert "fix: create the class in this namespace" in told
    assert "next: It waits until that is mended" in told


async def test_a_finalizer_of_somebody_else(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    engine = await person.read(FIREBOLT_ENGINES, "eng")
    kept = [*engine["metadata"]["finalizers"], "example.com/backup"]
    await person.patch(FIREBOLT_ENGINES, "eng", {"metadata": {"finalizers": kept}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    await operator.until(lambda seen: seen.metadata.finalizers == ["example.com/backup"])
    assert await explained(plugin) == HELD


async def test_what_is_left_of_an_engine_that_is_gone(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.patch(STATEFULSETS, "eng-g0", {"metadata": {"finalizers": ["example.com/keep"]}})
    await person.delete(FIREBOLT_ENGINES, "eng")
    await person.until_gone(FIREBOLT_ENGINES, "eng")
    told = await explained(plugin)
    assert told.startswith("engine eng: gone, but not all that belonged to it\n")
    assert "note  StatefulSet/eng-g0 is being deleted and held by example.com/keep" in told.replace("\n   ", " ")
    await person.release(STATEFULSETS, "eng-g0")


async def test_a_class_that_is_used_cannot_go(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_class()
    await person.make_engine(engineClassRef="big")
    await operator.until_at_rest(0)
    await person.delete(FIREBOLT_ENGINE_CLASSES, "big")
    assert "1. blocks  class big is used by 1 engine(s): eng" in await explained(plugin, "class/big")


async def test_a_preset_that_is_used_cannot_go(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_preset(template={"metadata": {"annotations": {"team": "data"}}})
    await person.make_engine()
    await operator.until_at_rest(0)
    assert (await explained(plugin, "preset/firebolt")).startswith("preset firebolt: ready\n")
    await person.delete(FIREBOLT_ENGINE_PRESETS, "firebolt")
    assert "1. blocks  preset firebolt is used by 1 engine(s): eng" in await explained(plugin, "preset/firebolt")


async def test_nobody_looks_after_it(start_operator: StartOperator, person: Person, plugin: Plugin) -> None:
    del start_operator
    await person.make_engine()
    assert "no operator has looked at it yet" in await explained(plugin)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("explain nobody", 'engine "nobody" is not there; kubectl firebolt engine list shows those that are'),
        (
            "explain pod/x",
            '"pod/x" is neither the name of an engine nor one of instance/, class/, preset/, clusterclass/ and a name',
        ),
        ("explain eng -o wide", '-o/--output: "wide" is not one of table, json, yaml'),
    ],
)
async def test_mistakes(person: Person, plugin: Plugin, typed: str, told: str) -> None:
    del person
    assert await asyncio.to_thread(plugin.refuses, *typed.split()) == told
