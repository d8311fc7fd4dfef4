"""How soon do queries move once the last pod is ready? With the event that says so: no poll has to come round."""

from datetime import timedelta
from functools import partial

import pytest

from firebolt_operator.engine.decide import phases
from firebolt_operator.look_again import After
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, Pass, look_again

NEVER = After(timedelta(hours=1))
UNREADY = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}


def reason(run: Pass) -> str:
    return run.outcome.reason if run.outcome else run.error


async def test_the_pass_after_the_last_ready_pod_promotes_and_no_poll_is_needed(
    operator: Operator, person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(phases, "PODS_WAIT", NEVER)
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    await person.edit_engine(template=UNREADY)
    for pod in ("eng-g1-0", "eng-g1-1"):
        await operator.sees(partial(operator.caches.pods.get, (person.namespace, pod)))
    await person.annotate_pod("eng-g1-0", ready=None)
    await operator.sees(lambda: operator.pod("eng-g1-0").is_ready)
    await operator.settled()
    before = len(operator.engines.ended("eng"))
    await person.annotate_pod("eng-g1-1", ready=None)
    await operator.sees(lambda: operator.pod("eng-g1-1").is_ready)
    await operator.until_at_rest(1)
    after = operator.engines.ended("eng")[before:]
    assert reason(after[0]) == "all pods are ready"
    # Nothing but the event can have brought that pass: no wait of this attempt ends within the hour.
    waits = {look_again(run) for run in operator.engines.ended("eng") if reason(run).startswith("waiting for pods, 1")}
    assert waits == {NEVER.wait}
