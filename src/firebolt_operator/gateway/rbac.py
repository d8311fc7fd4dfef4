"""What may a gateway do in Kubernetes? Ask for an engine to be woken, and see when it is up; in its own namespace."""

from firebolt_operator.api import names
from firebolt_operator.api.resources import ENDPOINT_SLICES, FIREBOLT_ENGINES, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS
from firebolt_operator.components.identity import child_metadata
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest, Resource


def gateway_identity(inputs: GatewayInputs) -> list[Manifest]:
    """In write order; nothing when the user brings an account, whose grants are then the user's business."""
    if inputs.custom_service_account:
        return []
    return [_service_account(inputs), _role(inputs), _role_binding(inputs)]


def _service_account(inputs: GatewayInputs) -> Manifest:
    return _object(SERVICE_ACCOUNTS, inputs)


def _role(inputs: GatewayInputs) -> Manifest:
    return {
        **_object(ROLES, inputs),
        "rules": [
            _rule(FIREBOLT_ENGINES, "get", "list", "patch"),
            _rule(ENDPOINT_SLICES, "get", "list", "watch"),
        ],
    }


def _role_binding(inputs: GatewayInputs) -> Manifest:
    name = names.gateway_name(inputs.instance.metadata.name)
    return {
        **_object(ROLE_BINDINGS, inputs),
        "subjects": [{"kind": SERVICE_ACCOUNTS.kind, "name": name, "namespace": inputs.namespace}],
        "roleRef": {"apiGroup": ROLES.group, "kind": ROLES.kind, "name": name},
    }


def _object(resource: Resource, inputs: GatewayInputs) -> Manifest:
    name = names.gateway_name(inputs.instance.metadata.name)
    return {
        "apiVersion": resource.api_version,
        "kind": resource.kind,
        "metadata": child_metadata(inputs.instance, name, names.COMPONENT_GATEWAY),
    }


def _rule(resource: Resource, *verbs: str) -> Manifest:
    return {"apiGroups": [resource.group], "resources": [resource.plural], "verbs": list(verbs)}
