"""Which objects make up an instance's gateway? A pure function of the instance; engines never change a byte of it."""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.resources import CONFIG_MAPS
from firebolt_operator.gateway.deployment import gateway_deployment
from firebolt_operator.gateway.envoy.bootstrap import envoy_yaml
from firebolt_operator.gateway.envoy_container import CONFIG_KEY
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.rbac import gateway_identity
from firebolt_operator.gateway.service import gateway_disruption_budget, gateway_service
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayObjects:
    identity: tuple[Manifest, ...]  # ServiceAccount, Role, RoleBinding; empty with an account of the user's own
    config_map: Manifest
    deployment: Manifest
    service: Manifest
    disruption_budget: Manifest
    config_hash: str


def gateway_objects(inputs: GatewayInputs) -> GatewayObjects:
    config = envoy_yaml(inputs)
    digest = gateway_config_hash(inputs, config)
    return GatewayObjects(
        identity=tuple(gateway_identity(inputs)),
        config_map=_config_map(inputs, config),
        deployment=gateway_deployment(inputs, digest),
        service=gateway_service(inputs),
        disruption_budget=gateway_disruption_budget(inputs),
        config_hash=digest,
    )


def gateway_config_hash(inputs: GatewayInputs, config: str) -> str:
    """Covers mounted Secrets by their revision, never by what is secret in them."""
    revisions = inputs.tls.revisions
    return content_hash(f"{config}\0{','.join(revisions)}" if revisions else config)


def _config_map(inputs: GatewayInputs, config: str) -> Manifest:
    instance = inputs.instance
    name = names.gateway_config_name(instance.metadata.name)
    return {
        "apiVersion": CONFIG_MAPS.api_version,
        "kind": CONFIG_MAPS.kind,
        "metadata": component_metadata(instance, name, names.COMPONENT_GATEWAY),
        "data": {CONFIG_KEY: config},
    }
