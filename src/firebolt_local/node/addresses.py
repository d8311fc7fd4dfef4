"""Which addresses does a cluster use, so that neither the host's networks nor another cluster's are in the way?

One block of 65,536 addresses per cluster, cut into services, pods and nodes.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from firebolt_local.errors import LocalError

# Ten first, as on most clusters; the others for machines whose own network is all of 10.0.0.0/8.
BLOCKS = tuple(
    IPv4Network(f"{start}.0.0/16")
    for start in (
        *(f"10.{number}" for number in range(96, 112)),
        *(f"172.{number}" for number in range(28, 32)),
        *(f"198.{number}" for number in (18, 19)),
    )
)


@dataclass(frozen=True, slots=True)
class Addresses:
    block: IPv4Network

    @property
    def services(self) -> IPv4Network:
        return self._quarter(0)

    @property
    def pods(self) -> IPv4Network:
        return self._quarter(1)

    @property
    def nodes(self) -> IPv4Network:
        return next(self._quarter(2).subnets(new_prefix=24))

    @property
    def host(self) -> IPv4Address:
        """Seen from the cluster, this machine."""
        return self.nodes[1]

    @property
    def api_service(self) -> IPv4Address:
        return self.services[1]

    @property
    def dns_service(self) -> IPv4Address:
        return self.services[10]

    def node(self, number: int) -> IPv4Address:
        """Nodes count from 1; the first one runs the control plane."""
        return self.nodes[number + 1]

    def pods_of(self, number: int) -> IPv4Network:
        return list(self.pods.subnets(new_prefix=24))[number - 1]

    def _quarter(self, number: int) -> IPv4Network:
        return list(self.block.subnets(prefixlen_diff=2))[number]


def choose_addresses(taken: Iterable[IPv4Network]) -> Addresses:
    """The first block that overlaps nothing that this machine can reach already."""
    known = list(taken)
    for block in BLOCKS:
        if not any(block.overlaps(network) for network in known):
            return Addresses(block)
    raise LocalError(
        f"every address block is in use here ({BLOCKS[0]} to {BLOCKS[-1]}); "
        "end another cluster (firebolt-local status names them), or a VPN that takes them all"
    )
