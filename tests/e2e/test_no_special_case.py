"""Would the same operator do the same on any other cluster? Its arguments and its objects have nothing of this one."""

import pytest

from firebolt_local.testing.installer import DRAIN_SETTLE, NAMESPACE, RELEASE
from firebolt_operator.api.resources import DEPLOYMENTS, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.engine.inputs import EngineImages, EngineInputs, InstanceInfo
from firebolt_operator.engine.render.renderer import EngineRenderer
from firebolt_operator.instance.render.renderer import InstanceImages, InstanceRenderer
from firebolt_operator.manifests.subset import is_subset
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.settings import Settings, parse_settings
from tests.e2e.environment import INSTANCE
from tests.e2e.scenario import Scenario
from tests.support.chart import arguments, only, rendered

pytestmark = pytest.mark.quick


async def test_given_the_chart_when_installed_then_only_drain_settle_differs_from_its_defaults(
    scenario: Scenario,
) -> None:
    wanted = only(rendered({"drainSettle": DRAIN_SETTLE}, namespace=NAMESPACE), "Deployment")
    live = await scenario.client.get(Ref(DEPLOYMENTS, NAMESPACE, RELEASE))
    assert live is not None
    assert is_subset(wanted["spec"], live["spec"])
    extra = [word for word in _arguments(live) if word not in arguments(rendered({}, namespace=NAMESPACE))]
    assert extra == [f"--drain-settle={DRAIN_SETTLE}"]


async def test_given_an_instance_and_an_engine_when_rendered_with_the_defaults_then_they_are_what_runs(
    scenario: Scenario,
) -> None:
    await scenario.make_resting_engine("plain", replicas=1)
    settings = parse_settings(arguments(rendered({}, namespace=NAMESPACE)), {})
    for wanted in [*await _instance_objects(scenario, settings), *await _engine_objects(scenario, settings)]:
        live = await scenario.kubectl_json("get", wanted["kind"], wanted["metadata"]["name"])
        assert is_subset(wanted, live), f"{wanted['kind']} {wanted['metadata']['name']} is not what defaults give"


def _arguments(deployment: Manifest) -> list[str]:
    words: list[str] = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    return words


async def _instance_objects(scenario: Scenario, settings: Settings) -> list[Manifest]:
    found = await scenario.client.get(scenario.ref(FIREBOLT_INSTANCES, INSTANCE))
    assert found is not None
    images = InstanceImages(
        metadata_service=settings.images.metadata,
        postgres=settings.images.postgres,
        gateway=settings.images.gateway,
        wake_agent=settings.images.wake_agent,
        wake_agent_pull_policy=settings.images.wake_agent_pull_policy,
    )
    blueprint = InstanceRenderer(parse_instance(found), images)
    return [each.manifest for each in (*blueprint.postgres(), *blueprint.metadata_service(), *blueprint.gateway())]


async def _engine_objects(scenario: Scenario, settings: Settings) -> list[Manifest]:
    found = await scenario.client.get(scenario.ref(FIREBOLT_INSTANCES, INSTANCE))
    assert found is not None
    instance, engine = parse_instance(found), scenario.engine("plain")
    assert instance.spec.id is not None
    assert engine.spec is not None
    inputs = EngineInputs(
        name="plain",
        namespace=scenario.namespace,
        uid=engine.metadata.uid,
        spec=engine.spec,
        engine_class=None,
        instance=InstanceInfo(id=instance.spec.id, metadata_endpoint=instance.status.metadata_endpoint),
        images=EngineImages(engine=settings.images.engine, ui=settings.images.ui),
    )
    blueprint = EngineRenderer(inputs)
    return [blueprint.config_map(0), blueprint.headless_service(0), blueprint.statefulset(0), blueprint.service(0)]
