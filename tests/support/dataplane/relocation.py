"""The rendered configuration, moved to loopback addresses of one test: addresses and the resolver change, no more."""

import json
from pathlib import Path
from typing import Any, Final

from firebolt_operator.gateway.envoy.clusters import ADMIN_STATS, ENGINES, WAKE_AGENT
from firebolt_operator.gateway.envoy.extensions import socket_address
from firebolt_operator.gateway.envoy.transport import FOLDER
from firebolt_operator.refs import Manifest

DNS_PORT: Final = 5353  # 53 would need root


def relocated(bootstrap: Manifest, address: str, folder: Path | None = None) -> Manifest:
    """All ports stay as rendered, on an address of the test's own; what is mounted is read from its folder."""
    moved: Manifest = json.loads(json.dumps(bootstrap).replace(FOLDER, str(folder or FOLDER)))
    resources = moved["static_resources"]
    for holder in (moved["admin"], *resources["listeners"]):
        holder["address"]["socket_address"]["address"] = address
    for cluster in resources["clusters"]:
        if cluster["name"] in (ADMIN_STATS, WAKE_AGENT):
            _endpoint(cluster)["address"] = address
    for engines in (each for each in resources["clusters"] if each["name"] == ENGINES):
        engines["typed_dns_resolver_config"]["typed_config"]["resolvers"] = [socket_address(address, DNS_PORT)]
    return moved


def engine_cluster(bootstrap: Manifest) -> Manifest:
    return next(each for each in bootstrap["static_resources"]["clusters"] if each["name"] == ENGINES)


def connection_manager(bootstrap: Manifest) -> Manifest:
    """Of the client listener."""
    listener: Any = bootstrap["static_resources"]["listeners"][0]
    manager: Manifest = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return manager


def _endpoint(cluster: Manifest) -> Manifest:
    found: Any = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]
    address: Manifest = found["socket_address"]
    return address
