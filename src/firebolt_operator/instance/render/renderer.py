"""The objects of one instance, rendered from its spec."""

from dataclasses import dataclass
from functools import cached_property

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.gateway.rbac import gateway_accounts
from firebolt_operator.instance.blueprint import Piece, Pieces
from firebolt_operator.instance.render.metadata_config import config_problem
from firebolt_operator.instance.render.metadata_service import (
    metadata_config_map,
    metadata_deployment,
    metadata_service,
)
from firebolt_operator.instance.render.postgres import postgres_credentials, postgres_service, postgres_statefulset
from firebolt_operator.reconciling.indexes import term
from firebolt_operator.reconciling.memo import LastValueMemo
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceImages:
    metadata_service: str
    postgres: str
    gateway: str
    wake_agent: str = ""  # empty: no agent
    wake_agent_pull_policy: str = ""  # empty: left to Kubernetes


@dataclass(frozen=True)
class InstanceRenderer:
    instance: FireboltInstance
    images: InstanceImages

    def problem(self) -> str | None:
        return config_problem(self.instance)

    def credentials(self, password: str) -> Manifest:
        return postgres_credentials(self.instance, password)

    def guard(self) -> Pieces:
        """What limits the gateway's account, and has to be there before that account has any rights."""
        return (Piece("gateway accounts", gateway_accounts(self._gateway_inputs)),)

    def postgres(self) -> Pieces:
        return (
            Piece("postgres statefulset", postgres_statefulset(self.instance, self.images.postgres)),
            Piece("postgres service", postgres_service(self.instance)),
        )

    def metadata_service(self, login_digest: str = "", /) -> Pieces:
        image = self.images.metadata_service
        return (
            Piece("metadata configmap", metadata_config_map(self.instance)),
            Piece("metadata deployment", metadata_deployment(self.instance, image, login_digest)),
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


class MemoisedRenderers:
    """Gives the same renderer again while nothing that is rendered has changed."""

    def __init__(self, images: InstanceImages) -> None:
        self._images = images
        self._known: LastValueMemo[InstanceRenderer] = LastValueMemo()

    def of(self, instance: FireboltInstance) -> InstanceRenderer:
        metadata, spec, status = instance.metadata, instance.spec, instance.status
        inputs = (metadata.uid, spec, status.auth, status.engine_tls, status.gateway_tls)
        subject = term(metadata.namespace, metadata.name)
        return self._known.value(subject, inputs, lambda: InstanceRenderer(instance, self._images))

    def forget(self, namespace: str, name: str) -> None:
        self._known.forget(term(namespace, name))
