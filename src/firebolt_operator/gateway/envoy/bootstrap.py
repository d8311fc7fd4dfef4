"""What is Envoy's whole configuration? One static document, the same for the same instance, byte for byte."""

import yaml

from firebolt_operator.api import names
from firebolt_operator.gateway.envoy.clusters import ADMIN_STATS, LOOPBACK, clusters, loopback_cluster
from firebolt_operator.gateway.envoy.extensions import socket_address
from firebolt_operator.gateway.envoy.listeners import listeners, stats_listener
from firebolt_operator.gateway.inputs import GatewayInputs
from firebolt_operator.refs import Manifest


def envoy_bootstrap(inputs: GatewayInputs) -> Manifest:
    if inputs.tls.is_closed:
        return closed_bootstrap(inputs)
    return {
        "static_resources": {"listeners": listeners(inputs), "clusters": clusters(inputs)},
        "admin": {"address": socket_address(LOOPBACK, names.PORT_ENVOY_ADMIN)},
    }


def closed_bootstrap(inputs: GatewayInputs) -> Manifest:
    """While a listener is tightened: probes and metrics are served, and nothing listens for clients."""
    return {
        "static_resources": {
            "listeners": [stats_listener(inputs)],
            "clusters": [loopback_cluster(ADMIN_STATS, names.PORT_ENVOY_ADMIN)],
        },
        "admin": {"address": socket_address(LOOPBACK, names.PORT_ENVOY_ADMIN)},
    }


def envoy_yaml(inputs: GatewayInputs) -> str:
    """Aliases would be legal YAML, but nobody should have to resolve them by eye."""
    return yaml.dump(envoy_bootstrap(inputs), Dumper=_ReadableDumper, sort_keys=False, allow_unicode=True, width=120)


class _ReadableDumper(yaml.SafeDumper):
    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002 - the base class names it
        return True

    def represent_text(self, text: str) -> yaml.ScalarNode:
        """Scripts as blocks, line by line."""
        return self.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_ReadableDumper.add_representer(str, _ReadableDumper.represent_text)
