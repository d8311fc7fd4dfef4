"""The caches an instance pass reads: instances, what they own by label, and credentials by label or by name."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import COMPONENT_ENGINE_CA_BUNDLE, LABEL_COMPONENT, LABEL_INSTANCE
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.instance.decide.steps import CHILD_RESOURCES
from firebolt_operator.instance.views import SecretView, decode_secret
from firebolt_operator.manifests.live_objects import LiveObject, decode_live
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.coverage import Coverage

BUNDLE: Final = f"{LABEL_COMPONENT}={COMPONENT_ENGINE_CA_BUNDLE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceCaches:
    instances: Cache[FireboltInstance]  # shared with whoever else follows instances
    children: tuple[Cache[LiveObject], ...]
    secrets: Cache[SecretView]  # those that carry our label
    bundles: Cache[LiveObject]  # those of them that hold CAs, and nothing that is secret

    @property
    def applied(self) -> tuple[Cache[LiveObject], ...]:
        return *self.children, self.bundles

    def own(self) -> Iterator[Cache[Any]]:
        """The caches that nobody else fills."""
        yield from self.applied
        yield self.secrets


def instance_caches(instances: Cache[FireboltInstance], namespaces: tuple[str, ...]) -> InstanceCaches:
    labelled = Coverage(namespaces=namespaces, labels=LABEL_INSTANCE)
    return InstanceCaches(
        instances=instances,
        children=tuple(Cache(resource, decode_live, coverage=labelled) for resource in CHILD_RESOURCES),
        secrets=Cache(SECRETS, decode_secret, coverage=labelled),
        bundles=Cache(SECRETS, decode_live, coverage=Coverage(namespaces=namespaces, labels=BUNDLE)),
    )
