"""What may a gateway do in Kubernetes? Ask for an engine to be woken, and see when it is up; in its own namespace."""

from firebolt_operator.api import names
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    ROLE_BINDINGS,
    ROLES,
    SERVICE_ACCOUNTS,
)
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.refs import Manifest, Resource


def gateway_identity(inputs: GatewayInputs) -> list[Manifest]:
    """In write order; nothing when the user brings an account, whose grants are then the user's business.

    Only the wake agent asks the API server for anything: without one the account may do nothing.
    """
    if inputs.custom_service_account:
        return []
    rights = [_role(inputs), _role_binding(inputs)] if inputs.wakes_engines else []
    return [_service_account(inputs), *rights]


def gateway_accounts(inputs: GatewayInputs) -> Manifest:
    """Whom the admission policy keeps to the wake annotation; a ConfigMap, because every API server knows that kind.

    By name, one on a line: the policy adds the namespace, so that nobody elsewhere can be limited from here.
    """
    instance = inputs.instance
    name, own = instance.metadata.name, names.gateway_name(instance.metadata.name)
    metadata = component_metadata(instance, names.gateway_accounts_name(name), names.COMPONENT_GATEWAY)
    label = {names.LABEL_POLICY_PARAMETER: names.POLICY_PARAMETER_ACCOUNTS}
    # The instance's own account stays on the list beside a custom one: pods that still run may use it.
    accounts = dict.fromkeys(filter(None, (own, inputs.custom_service_account)))
    return {
        "apiVersion": CONFIG_MAPS.api_version,
        "kind": CONFIG_MAPS.kind,
        "metadata": {**metadata, "labels": {**metadata["labels"], **label}},
        "data": {names.KEY_ACCOUNTS: "".join(f"{account}\n" for account in accounts)},
    }


def _service_account(inputs: GatewayInputs) -> Manifest:
    return _object(SERVICE_ACCOUNTS, inputs)


def _role(inputs: GatewayInputs) -> Manifest:
    rules = [_rule(FIREBOLT_ENGINES, "get", "list", "patch"), _rule(ENDPOINT_SLICES, "get", "list", "watch")]
    if inputs.times.outlasts_its_instance:
        # A pod that leaves has to know whether it has all of its time, or a minute.
        rules.append(_rule(FIREBOLT_INSTANCES, "get") | {"resourceNames": [inputs.instance.metadata.name]})
    return {**_object(ROLES, inputs), "rules": rules}


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
        "metadata": component_metadata(inputs.instance, name, names.COMPONENT_GATEWAY),
    }


def _rule(resource: Resource, *verbs: str) -> Manifest:
    return {"apiGroups": [resource.group], "resources": [resource.plural], "verbs": list(verbs)}
