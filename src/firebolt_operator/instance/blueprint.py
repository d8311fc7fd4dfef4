"""How the objects of one instance look, for decisions that must not care how they are rendered."""

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.gateway.rbac import gateway_accounts
from firebolt_operator.instance.metadata_service import metadata_config_map, metadata_deployment, metadata_service
from firebolt_operator.instance.postgres import postgres_service, postgres_statefulset
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class Piece:
    what: str  # as messages name it: "postgres statefulset"
    manifest: Manifest


Pieces = tuple[Piece, ...]
Key = tuple[str, str]  # namespace and name


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceImages:
    metadata: str
    postgres: str
    gateway: str
    wake_agent: str = ""  # empty: no agent
    wake_agent_pull_policy: str = ""  # empty: left to Kubernetes


class Blueprint(Protocol):
    """Each method gives objects in the order in which they are made."""

    def guard(self) -> Pieces: ...
    def postgres(self) -> Pieces: ...
    def metadata(self) -> Pieces: ...
    def gateway(self) -> Pieces: ...


@dataclass(frozen=True)
class InstanceBlueprint:
    """The real thing: renders from the instance's spec."""

    instance: FireboltInstance
    images: InstanceImages

    def guard(self) -> Pieces:
        """What limits the gateway's account, and has to be there before that account has any rights."""
        return (Piece("gateway accounts", gateway_accounts(self._gateway_inputs)),)

    def postgres(self) -> Pieces:
        return (
            Piece("postgres statefulset", postgres_statefulset(self.instance, self.images.postgres)),
            Piece("postgres service", postgres_service(self.instance)),
        )

    def metadata(self) -> Pieces:
        return (
            Piece("metadata configmap", metadata_config_map(self.instance)),
            Piece("metadata deployment", metadata_deployment(self.instance, self.images.metadata)),
            Piece("metadata service", metadata_service(self.instance)),
        )

    def gateway(self) -> Pieces:
        return self._gateway

    @property
    def _gateway_inputs(self) -> GatewayInputs:
        return GatewayInputs(
            instance=self.instance,
            image=self.images.gateway,
            wake_agent_image=self.images.wake_agent,
            wake_agent_pull_policy=self.images.wake_agent_pull_policy,
        )

    @cached_property
    def _gateway(self) -> Pieces:
        """Rendered once: writing Envoy's configuration down takes longer than the rest of a pass."""
        objects = gateway_objects(self._gateway_inputs)
        return (
            *(Piece("gateway RBAC", manifest) for manifest in objects.identity),
            Piece("gateway configmap", objects.config_map),
            Piece("gateway deployment", objects.deployment),
            Piece("gateway service", objects.service),
            Piece("gateway pdb", objects.disruption_budget),
        )


class BlueprintMemory:
    """Gives the same blueprint again while nothing that is rendered has changed."""

    def __init__(self, images: InstanceImages) -> None:
        self._images = images
        self._known: dict[Key, tuple[object, InstanceBlueprint]] = {}

    def of(self, instance: FireboltInstance) -> InstanceBlueprint:
        key, inputs = (instance.metadata.namespace, instance.metadata.name), _inputs(instance)
        known = self._known.get(key)
        if known is not None and known[0] == inputs:
            return known[1]
        blueprint = InstanceBlueprint(instance, self._images)
        self._known[key] = (inputs, blueprint)
        return blueprint

    def forget(self, key: Key) -> None:
        self._known.pop(key, None)


def _inputs(instance: FireboltInstance) -> object:
    status = instance.status
    return instance.metadata.uid, instance.spec, status.auth, status.engine_tls, status.gateway_tls
