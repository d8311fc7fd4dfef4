"""With which flags does kube-proxy make the addresses of services work on a node?"""

from ipaddress import IPv4Network
from pathlib import Path


def proxy_flags(node: str, pods: IPv4Network, kubeconfig: Path) -> list[str]:
    return [
        f"--kubeconfig={kubeconfig}",
        f"--hostname-override={node}",
        "--proxy-mode=nftables",
        # Callers from elsewhere, the host for one, get the node's address: answers come back the way they went.
        f"--cluster-cidr={pods}",
        # These would change the connection tracking of the whole machine.
        "--conntrack-max-per-core=0",
        "--conntrack-tcp-timeout-established=0",
        "--conntrack-tcp-timeout-close-wait=0",
    ]
