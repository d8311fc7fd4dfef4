"""Does `kubectl describe` say why an engine is stuck, so that nobody has to read a log?"""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from firebolt_operator.api.resources import CORE_EVENTS, FIREBOLT_INSTANCES, SERVICE_ACCOUNTS, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, condition, look_again
from tests.api.engine.strangers import refused

QUOTAS = Resource("", "v1", "resourcequotas", "ResourceQuota")
LONG_ENOUGH = timedelta(seconds=10)


def simulated(**annotations: str) -> Manifest:
    notes = {f"sim.firebolt.io/{name.replace('_', '-')}": value for name, value in annotations.items()}
    return {"template": {"metadata": {"annotations": notes}}}


def container(**fields: Any) -> Manifest:
    return {"template": {"spec": {"containers": [{"name": "engine", **fields}]}}}


def _messages(operator: Operator) -> str:
    engine = operator.engine()
    return " ".join(each.message for each in engine.status.conditions) if engine else ""


async def described_with(operator: Operator, person: Person, words: list[str]) -> str:
    """The description, once a pass that came late enough has put all of this into it."""
    operator.clock.skip(LONG_ENOUGH)
    async with asyncio.timeout(60):
        while not all(word in _messages(operator) for word in words):
            await operator.next_pass()
            await asyncio.sleep(0.1)  # Kubernetes decides when it says something
    description = await person.describe()
    for word in words:
        assert word in description
    return description


@pytest.mark.parametrize(
    ("spec", "reason", "words"),
    [
        pytest.param(
            {"template": {"spec": {"nodeSelector": {"no": "where"}}}},
            "Rolling",
            ["Engine is in creating phase; eng-g0-0: Unschedulable: 0/1 nodes are available"],
            id="no-node-suits",
        ),
        pytest.param(
            {"storage": {"persistentVolumeClaim": {"storageClassName": "nowhere"}}},
            "Rolling",
            ["eng-g0-0: Unschedulable: ", "PersistentVolumeClaim"],
            id="no-volume",
        ),
        pytest.param(
            simulated(fault="ImagePullBackOff") | {},
            "Rolling",
            ['eng-g0-0: container engine: ImagePullBackOff: Back-off pulling image "engine:1.0"'],
            id="image-pull",
        ),
        pytest.param(
            simulated(fault="CrashLoopBackOff", last_termination="OOMKilled"),
            "Rolling",
            ["eng-g0-0: container engine: CrashLoopBackOff: back-off 5m0s", "; last exit OOMKilled: code 137"],
            id="crash-loop-without-memory",
        ),
        pytest.param(
            simulated(fault="OOMKilled"),
            "Rolling",
            ["eng-g0-0: container engine: ", "last exit OOMKilled: code 137"],
            id="out-of-memory",
        ),
        pytest.param(
            simulated(fault="CreateContainerConfigError", message='secret "tokens" not found'),
            "Rolling",
            ['eng-g0-0: container engine: CreateContainerConfigError: secret "tokens" not found'],
            id="missing-secret",
        ),
        pytest.param(
            simulated(ready="false"),
            "Rolling",
            ["eng-g0-0: container engine: started, but its readiness probe fails"],
            id="readiness-probe",
        ),
        pytest.param(
            {"template": {"spec": {"serviceAccountName": "nobody"}}},
            "FailedCreate",
            ["StatefulSet eng-g0: Create Pod eng-g0-0", 'serviceaccount "nobody" not found', "(x"],
            id="missing-service-account",
        ),
        pytest.param(
            container(command=["sh"]),
            "TemplateRejected",
            ["spec.template.spec.containers[0].command: Forbidden: engine container command is operator-owned"],
            id="template-that-we-refuse",
        ),
    ],
)
async def test_an_engine_that_does_not_start_says_why(
    operator: Operator, person: Person, spec: Manifest, reason: str, words: list[str]
) -> None:
    await person.make_instance()
    await person.make_engine(**spec)
    description = await described_with(operator, person, words)
    assert condition(await operator.until_phase("creating")).reason == reason
    assert reason in description


async def test_a_quota_is_told_and_the_engine_goes_on_once_there_is_room(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.client.create(person.manifest(QUOTAS, "few", spec={"hard": {"pods": "1"}}))
    await person.until(QUOTAS, "few", lambda quota: quota is not None and "hard" in quota.get("status", {}))
    await person.make_engine(replicas=2)
    description = await described_with(operator, person, ["exceeded quota: few", "StatefulSet eng-g0: "])
    assert "FailedCreate" in description
    await person.delete(QUOTAS, "few")
    await operator.until_at_rest(0)
    assert "exceeded quota" not in condition(await operator.until_at_rest(0)).message


async def test_words_that_no_status_can_hold_are_cut(operator: Operator, person: Person) -> None:
    """Whoever may write events may write such a one; the status was refused with it, pass after pass."""
    await person.make_instance()
    await person.client.create(person.manifest(QUOTAS, "none", spec={"hard": {"pods": "0"}}))
    await person.until(QUOTAS, "none", lambda quota: quota is not None and "hard" in quota.get("status", {}))
    await person.make_engine()
    statefulset = await person.until(STATEFULSETS, "eng-g0", lambda found: found is not None)
    assert statefulset is not None
    about = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "eng-g0"}
    about |= {name: statefulset["metadata"][name] for name in ("namespace", "uid")}
    said = {"type": "Warning", "reason": "Loud\n", "message": "x" * 40_000, "lastTimestamp": "2999-01-01T00:00:00Z"}
    await person.client.create(person.manifest(CORE_EVENTS, "loud", involvedObject=about, **said))
    await described_with(operator, person, ["StatefulSet eng-g0: xxxx"])
    found = condition(await operator.until_phase("creating"))
    assert (found.reason, len(found.message)) == ("StatefulSetWarning", 32_768)


async def test_a_service_account_that_comes_late_is_taken(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(template={"spec": {"serviceAccountName": "late"}})
    await described_with(operator, person, ['serviceaccount "late" not found'])
    await person.client.create(person.manifest(SERVICE_ACCOUNTS, "late"))
    await operator.until_at_rest(0)


async def test_a_rollout_that_is_refused_is_told_while_the_old_generation_serves(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_class(**container(env=[{"name": "TWICE", "value": "1"}]))
    await person.make_engine(engineClassRef="big")
    await operator.until_at_rest(0)
    await person.edit_engine(**container(env=[{"name": "TWICE", "value": "2"}]))
    description = await described_with(operator, person, ["applying StatefulSet", "TWICE"])
    assert "TemplateRejected" in description
    run = await operator.next_pass()
    assert look_again(run) == "backoff"
    assert await person.selected_generation() == "0"
    await person.edit_engine(template=None)
    await operator.until_at_rest(1)
    await person.until_children(serving(1))


async def test_a_policy_that_forbids_the_statefulset_is_told(operator: Operator, person: Person) -> None:
    await person.make_instance()
    async with refused(person, STATEFULSETS, "CREATE"):
        await person.make_engine()
        description = await described_with(operator, person, ["applying StatefulSet", "not now"])
        assert "EnsureFailed" in description
    await operator.until_at_rest(0)


async def test_a_running_engine_says_what_happened_to_its_pods(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    await person.annotate_pod("eng-g0-1", fault="OOMKilled")
    words = "generation 0 has 1 of 2 pod(s) ready; eng-g0-1: container engine: "
    description = await described_with(operator, person, [words, "last exit OOMKilled: code 137"])
    assert "PodsNotReady" in description


async def test_an_instance_that_is_away_is_named(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.delete(FIREBOLT_INSTANCES, "inst")
    text = f'FireboltInstance "inst" not found in namespace {person.namespace}'
    description = await described_with(operator, person, [text, "Referenced FireboltInstance is not ready"])
    assert "InstanceNotReady" in description


async def test_a_class_that_is_missing_is_named(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(engineClassRef="nowhere")
    await operator.sees(lambda: any(run.error for run in operator.engines.ended("eng")))
    description = await person.describe()
    assert "EngineClassMissing" in description
    assert f"FireboltEngineClass {person.namespace}/nowhere not found" in description
