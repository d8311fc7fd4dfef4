"""How is an object named? By its kind, its namespace and its name, whether it is rendered or was read."""

from typing import Final

from firebolt_operator.api import resources
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.refs import Manifest, Ref, Resource

_KINDS: Final = {
    (resource.api_version, resource.kind): resource
    for resource in vars(resources).values()
    if isinstance(resource, Resource)
}


def ref_of(manifest: Manifest) -> Ref:
    """Of something we rendered."""
    metadata = manifest["metadata"]
    return Ref(_KINDS[manifest["apiVersion"], manifest["kind"]], metadata["namespace"], metadata["name"])


def ref_to(resource: Resource, metadata: ObjectMeta) -> Ref:
    """Of something we read."""
    return Ref(resource, metadata.namespace, metadata.name)
