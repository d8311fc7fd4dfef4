"""What do people and autoscalers see of an engine, and do their usual commands work?"""

import pytest

from firebolt_operator.api.resources import FIREBOLT_ENGINES, PODS
from firebolt_operator.refs import Ref, Resource
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, condition

AUTOSCALERS = Resource("autoscaling", "v2", "horizontalpodautoscalers", "HorizontalPodAutoscaler")


async def table(person: Person, *arguments: str) -> list[str]:
    """What `kubectl get` prints, without the age."""
    lines = [line.split() for line in (await person.kubectl("get", "fireng", *arguments)).splitlines()]
    age = lines[0].index("AGE")
    return [" ".join(word for index, word in enumerate(line) if index != age) for line in lines]


async def test_kubectl_get_says_at_a_glance_how_an_engine_is(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_class()
    await person.make_engine(replicas=2, engineClassRef="big")
    await person.make_engine("parked", replicas=0)
    await operator.until_at_rest(0)
    await operator.until_at_rest(0, "parked")
    assert await table(person) == [
        "NAME REPLICAS PHASE READY GENERATION",
        "eng 2 stable True 0",
        "parked 0 stopped False 0",
    ]
    assert await table(person, "-o", "wide") == [
        "NAME REPLICAS PHASE READY GENERATION PODS INSTANCE CLASS REASON",
        "eng 2 stable True 0 2 inst big EngineReady",
        "parked 0 stopped False 0 0 inst Stopped",
    ]


async def test_kubectl_get_shows_a_rollout_that_does_not_get_on(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.edit_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}})
    await operator.until_reason("Rolling")
    await operator.until_attempt(1)
    assert (await table(person, "-o", "wide"))[1] == "eng 1 creating False 0 1 inst Rolling"


async def test_kubectl_wait_knows_when_an_engine_serves(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready-after": "1s"}}})
    await person.kubectl("wait", "fireng/eng", "--for=condition=Ready", "--timeout=60s")
    assert (await operator.until_at_rest(0)).status.ready_replicas == 1


async def test_kubectl_scale_rolls_to_the_new_size(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.kubectl("scale", "fireng/eng", "--replicas=3")
    engine = await operator.until_at_rest(1)
    assert (engine.status.replicas, engine.status.ready_replicas) == (3, 3)
    await person.until_children(serving(1))


async def test_the_scale_of_an_engine_follows_the_generation_that_serves(operator: Operator, person: Person) -> None:
    async def scale() -> tuple[object, object]:
        text = await person.kubectl("get", "fireng", "eng", "--subresource=scale", "-o=jsonpath={.spec} {.status}")
        spec, _, status = text.partition(" ")
        return spec, status

    await person.make_engine(replicas=2)
    await operator.until_reason("InstanceNotReady")
    assert await scale() == ('{"replicas":2}', '{"replicas":0}')  # no selector before the first generation
    await person.make_instance()
    await operator.until_at_rest(0)
    selector = "firebolt.io/engine=eng,firebolt.io/generation="
    assert await scale() == ('{"replicas":2}', f'{{"replicas":2,"selector":"{selector}0"}}')
    await person.edit_engine(replicas=1)
    await operator.until_at_rest(1)
    assert await scale() == ('{"replicas":1}', f'{{"replicas":1,"selector":"{selector}1"}}')


@pytest.mark.slow
async def test_an_autoscaler_scales_an_engine(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    target = {"apiVersion": FIREBOLT_ENGINES.api_version, "kind": FIREBOLT_ENGINES.kind, "name": "eng"}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 50}}}
    spec = {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 4, "metrics": [cpu]}
    await person.client.create(person.manifest(AUTOSCALERS, "eng", spec=spec))
    engine = await operator.until_at_rest(1)  # fewer than its minimum needs no metrics
    assert engine.status.replicas == 2
    found = await person.client.get(Ref(AUTOSCALERS, person.namespace, "eng"))
    assert found is not None
    able = next(each for each in found["status"]["conditions"] if each["type"] == "AbleToScale")
    assert able["status"] == "True"


async def test_a_pod_that_fails_shows_and_one_that_terminates_does_not_count(
    operator: Operator, person: Person
) -> None:
    await person.make_instance()
    await person.make_engine(replicas=3)
    await operator.until_at_rest(0)
    await person.annotate_pod("eng-g0-1", fault="CrashLoopBackOff", message="it fell over")
    engine = await operator.until_reason("PodsNotReady")
    assert (engine.status.phase, engine.status.replicas, engine.status.ready_replicas) == ("stable", 3, 2)
    assert (await table(person))[1] == "eng 3 stable False 0"
    await person.annotate_pod("eng-g0-1", fault=None)
    await operator.until_at_rest(0)
    await person.annotate_pod("eng-g0-2", delete_after="1h")
    await person.delete(PODS, "eng-g0-2")
    engine = await operator.until_reason("PodsNotReady")
    assert (engine.status.replicas, engine.status.ready_replicas) == (2, 2)
    assert condition(engine).message == "generation 0 has 2 of 2 pod(s) ready"
    await person.annotate_pod("eng-g0-2", delete_after="0s")
    await operator.until_at_rest(0)


async def test_pods_with_copied_labels_do_not_count(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(template={"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}})
    await operator.until_reason("Rolling")
    labels = {"firebolt.io/engine": "eng", "firebolt.io/generation": "0"}
    spec = {"containers": [{"name": "c", "image": "i"}]}
    await person.client.create(person.manifest(PODS, "stranger", labels=labels, spec=spec))
    await operator.sees(lambda: any(pod.name == "stranger" and pod.is_ready for pod in operator.caches.pods.values()))
    await operator.next_pass()
    assert (await operator.until_phase("creating")).status.replicas == 0
    await operator.sees(lambda: operator.caches.pods.get((operator.namespace, "eng-g0-0")))
    await person.annotate_pod("eng-g0-0", ready=None)
    engine = await operator.until_at_rest(0)
    assert (engine.status.replicas, engine.status.ready_replicas) == (1, 1)
