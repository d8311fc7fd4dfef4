"""Instances and inputs for gateway tests; each fills in what a test does not care about."""

from typing import Any

from firebolt_operator.api.instance import FireboltInstance, GatewaySpec, InstanceSpec, MetadataSpec
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.objects import GatewayObjects
from firebolt_operator.refs import Manifest

ENVOY_IMAGE = "envoyproxy/envoy:v1.37.2"
AGENT_IMAGE = "localhost/firebolt-operator:v1"


def an_instance(
    name: str = "inst", namespace: str = "ns", template: Manifest | None = None, **gateway: Any
) -> FireboltInstance:
    return FireboltInstance(
        metadata=ObjectMeta(name=name, namespace=namespace, uid="0b5f-uid"),
        spec=InstanceSpec(
            id="01J0000000000000000000000", metadata=MetadataSpec(), gateway=GatewaySpec(template=template, **gateway)
        ),
    )


def gateway_inputs(instance: FireboltInstance | None = None, *, wake: bool = False, **fields: Any) -> GatewayInputs:
    return GatewayInputs(
        instance=instance or an_instance(),
        image=ENVOY_IMAGE,
        wake_agent_image=AGENT_IMAGE if wake else "",
        **fields,
    )


def all_objects(objects: GatewayObjects) -> list[Manifest]:
    return [*objects.identity, objects.config_map, objects.deployment, objects.service, objects.disruption_budget]
