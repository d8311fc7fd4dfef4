"""Do the commands do with real engines what they say?"""

import asyncio
import json

import yaml

from firebolt_operator.api.resources import FIREBOLT_ENGINES
from tests.api.engine.person import Person
from tests.api.engine.running import Operator
from tests.support.plugin import Plugin

TABLE = """\
NAME    INSTANCE   PHASE     READY
eng     inst       stable    true
other   inst       stopped   false
"""
WIDE = """\
NAME    INSTANCE   CLASS   REPLICAS   PHASE     READY
eng     inst       big     2          stable    true
other   inst       -       0          stopped   false
"""


async def says(plugin: Plugin, *arguments: str) -> str:
    return await asyncio.to_thread(plugin.says, *arguments)


async def test_engines_are_listed_in_every_format(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    await person.make_class()
    await person.make_engine(replicas=2, engineClassRef="big")
    await person.make_engine("other", replicas=0)
    await operator.until_at_rest(0)
    await operator.until_at_rest(0, "other")
    assert await says(plugin, "engine", "list") == TABLE
    assert await says(plugin, "engine", "list", "-o", "wide") == WIDE
    assert await says(plugin, "engine", "list", "-o", "name") == "fireboltengine/eng\nfireboltengine/other\n"
    assert await says(plugin, "engine", "list", "--instance", "none") == "NAME   INSTANCE   PHASE   READY\n"
    told = json.loads(await says(plugin, "engine", "list", "-o", "json", "--instance", "inst"))
    assert told == yaml.load(await says(plugin, "engine", "list", "-o", "yaml"), yaml.CSafeLoader)
    assert [item["spec"]["replicas"] for item in told["items"]] == [2, 0]
    assert await says(plugin, "instance", "list") == "NAME   PHASE   READY\ninst   Ready   -\n"
    assert await says(plugin, "instance", "list", "-o", "name") == "fireboltinstance/inst\n"


async def test_an_engine_is_made_stopped_started_restarted_and_deleted(
    operator: Operator, person: Person, plugin: Plugin
) -> None:
    await person.make_instance()
    create = ("engine", "create", "eng", "--instance", "inst", "--bucket", "b", "--replicas", "2")
    assert await says(plugin, *create) == (
        "fireboltengine.compute.firebolt.io/eng created\nfireboltengine.compute.firebolt.io/eng condition met\n"
    )
    made = await person.read(FIREBOLT_ENGINES, "eng")
    assert (made["spec"]["replicas"], made["status"]["phase"]) == (2, "stable")
    assert await says(plugin, "engine", "stop", "eng") == (
        "fireboltengine.compute.firebolt.io/eng scaled\n"
        "fireboltengine.compute.firebolt.io/eng condition met\n"
        "queries are refused until it is started again: kubectl firebolt engine start eng\n"
    )
    await says(plugin, "engine", "start", "eng")
    started = await operator.until_at_rest(2)
    assert (started.status.ready_replicas, started.spec and started.spec.replicas) == (2, 2)
    assert await says(plugin, "engine", "restart", "eng") == (
        "fireboltengine.compute.firebolt.io/eng patched\nfireboltengine.compute.firebolt.io/eng condition met\n"
    )
    await operator.until_at_rest(3)
    assert (await says(plugin, "engine", "delete", "eng")).startswith(
        'fireboltengine.compute.firebolt.io "eng" deleted'
    )
    await operator.until_gone()
    assert await says(plugin, "engine", "delete", "eng") == "fireboltengine/eng not found; nothing to delete\n"


async def test_a_stopped_engine_is_made_without_waiting(operator: Operator, person: Person, plugin: Plugin) -> None:
    await person.make_instance()
    create = ("engine", "create", "eng", "--instance", "inst", "--bucket", "b", "--replicas", "0")
    told = await says(plugin, *create)
    assert told.endswith("fireboltengine/eng has 0 replicas and stays stopped; the wait for readiness was skipped\n")
    assert (await operator.until_at_rest(0)).status.phase == "stopped"


async def test_what_auto_stop_parked_is_started_with_as_many_nodes_as_it_would(
    operator: Operator, person: Person, plugin: Plugin
) -> None:
    await person.make_instance()
    await person.make_class(autoStop={"enabled": True, "activeReplicas": 2, "idleTimeout": "1h"})
    await person.make_engine(engineClassRef="big", replicas=0)
    await operator.until_at_rest(0)
    await says(plugin, "engine", "start", "eng")
    assert (await operator.until_at_rest(1)).status.ready_replicas == 2
    told = await says(plugin, "engine", "stop", "eng", "--no-wait")
    assert told.endswith("auto-stop is on: the next query through the gateway starts it again\n")


async def test_an_engine_that_is_not_there(person: Person, plugin: Plugin) -> None:
    for command in ("stop", "start", "restart"):
        told = await asyncio.to_thread(plugin.refuses, "engine", command, "nobody")
        assert 'fireboltengines.compute.firebolt.io "nobody" not found' in told
    assert await person.names(FIREBOLT_ENGINES) == set()
