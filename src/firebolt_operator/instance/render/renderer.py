"""The objects of one instance, rendered from its spec and from what was recorded of its TLS."""

from dataclasses import dataclass, field
from typing import Final

import msgspec

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.gateway.objects import GatewayObjects, gateway_objects
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
from firebolt_operator.tls.facts import SecretRevisions, TrustBundle
from firebolt_operator.tls.render.gateway_tls import gateway_tls
from firebolt_operator.tls.render.trust_bundle import trust_bundle

MOST_RENDERED: Final = 3  # as it is, closed, and as it shall be
NOTHING_MOUNTED: Final = SecretRevisions()


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
    _rendered: list[tuple[object, GatewayObjects]] = field(
        default_factory=list[tuple[object, GatewayObjects]], repr=False, compare=False
    )

    def problem(self) -> str | None:
        return config_problem(self.instance)

    def credentials(self, password: str) -> Manifest:
        return postgres_credentials(self.instance, password)

    def guard(self) -> Pieces:
        """What limits the gateway's account, and has to be there before that account has any rights."""
        return (Piece("gateway accounts", gateway_accounts(self._inputs(self.instance, NOTHING_MOUNTED))),)

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

    def trust(self, bundle: TrustBundle, /) -> Pieces:
        return (Piece("engine CA bundle", trust_bundle(self.instance, bundle)),)

    def gateway(self, revisions: SecretRevisions | None = None, /) -> Pieces:
        objects = self._objects(self.instance.status.gateway_tls, revisions or NOTHING_MOUNTED)
        return (
            *(Piece("gateway RBAC", manifest) for manifest in objects.identity),
            Piece("gateway configmap", objects.config_map),
            Piece("gateway deployment", objects.deployment),
            Piece("gateway service", objects.service),
            Piece("gateway pdb", objects.disruption_budget),
        )

    def gateway_hash(self, status: GatewayTLSStatus | None, revisions: SecretRevisions, /) -> str:
        return self._objects(status, revisions).config_hash

    def _objects(self, status: GatewayTLSStatus | None, revisions: SecretRevisions) -> GatewayObjects:
        """Rendered once: writing Envoy's configuration down takes longer than the rest of a pass."""
        inputs = (status, revisions)
        for known, objects in self._rendered:
            if known == inputs:
                return objects
        recorded = msgspec.structs.replace(self.instance.status, gateway_tls=status)
        instance = msgspec.structs.replace(self.instance, status=recorded)
        made = gateway_objects(self._inputs(instance, revisions))
        self._rendered[:] = [(inputs, made), *self._rendered[: MOST_RENDERED - 1]]
        return made

    def _inputs(self, instance: FireboltInstance, revisions: SecretRevisions) -> GatewayInputs:
        return GatewayInputs(
            instance=instance,
            image=self.images.gateway,
            wake_agent_image=self.images.wake_agent,
            wake_agent_pull_policy=self.images.wake_agent_pull_policy,
            tls=gateway_tls(instance, revisions),
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
