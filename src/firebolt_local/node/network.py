"""How do host, nodes and pods reach each other, with nothing on the host but one end of a cable and its routes?

The first node has a bridge. One cable leads from it to the host, one to each further node; each node has the address of
its end. Nothing leads outside: what is not in the cluster cannot be reached from it.
"""

import json
import subprocess
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Network
from pathlib import Path

from firebolt_local.errors import LocalError
from firebolt_local.node.addresses import Addresses

BRIDGE = "nodes"
_TO_HOST = "host0"
_UPLINK = "eth0"
_PREFIX = 24
_NARROWEST_DEFAULT = 4
_SECONDS = 30


def taken_networks() -> list[IPv4Network]:
    """Everything that this machine has an address in or a way to."""
    return read_routes(_run(["ip", "-json", "-4", "route", "show", "table", "all"]))


def read_routes(answer: str) -> list[IPv4Network]:
    destinations = [str(route["dst"]) for route in json.loads(answer or "[]")]
    networks = [IPv4Network(each, strict=False) for each in destinations if each != "default"]
    # Halves of everything are how a VPN says "default"; to be taken literally they would leave no address to anybody.
    return [network for network in networks if network.prefixlen >= _NARROWEST_DEFAULT]


def connect_host(link: str, pause_pid: int, addresses: Addresses) -> None:
    """Make the cable between the host and the first node, and the first node's end of everything."""
    _ip([f"link add {link} type veth peer name {_TO_HOST} netns {pause_pid}"])
    _ip(
        [
            "link set lo up",
            f"link add {BRIDGE} type bridge",
            f"link set {_TO_HOST} master {BRIDGE} up",
            f"address add {addresses.node(1)}/{_PREFIX} dev {BRIDGE}",
            f"link set {BRIDGE} up",
            # A service's address is rewritten on the way out, but only what has a way is sent out at all.
            f"route add {addresses.services} dev {BRIDGE}",
        ],
        pause_pid,
    )
    _ip(
        [
            f"address add {addresses.host}/{_PREFIX} dev {link}",
            f"link set {link} up",
            f"route add {addresses.services} via {addresses.node(1)} src {addresses.host}",
            f"route add {addresses.pods_of(1)} via {addresses.node(1)} src {addresses.host}",
        ]
    )
    let_packets_through(pause_pid)


def connect_node(number: int, pause_pids: Sequence[int], link: str, addresses: Addresses) -> None:
    """Make the cable between the first node and another, and the routes to and from the pods of both."""
    first, own = pause_pids[0], pause_pids[number - 1]
    _ip([f"link add node{number} type veth peer name {_UPLINK} netns {own}"], first)
    _ip([f"link set node{number} master {BRIDGE} up"], first)
    _ip(
        [
            "link set lo up",
            f"address add {addresses.node(number)}/{_PREFIX} dev {_UPLINK}",
            f"link set {_UPLINK} up",
            f"route add {addresses.services} dev {_UPLINK}",
        ],
        own,
    )
    for other in range(1, number):
        _ip([f"route add {addresses.pods_of(number)} via {addresses.node(number)}"], pause_pids[other - 1])
        _ip([f"route add {addresses.pods_of(other)} via {addresses.node(other)}"], own)
    way = f"{addresses.pods_of(number)} via {addresses.node(number)} dev {link} src {addresses.host}"
    _ip([f"route add {way}"])
    let_packets_through(own)


def disconnect_host(link: str) -> None:
    """The other end, in the namespace, goes with it."""
    device = Path("/sys/class/net", link)
    try:
        if device.exists():
            _ip([f"link delete {link}"])
    except LocalError:
        # The kernel takes it away by itself, a moment after the last process of the namespace has ended.
        if device.exists():
            raise


def let_packets_through(pause_pid: int) -> None:
    """Forwarding, and rewriting of what goes from one pod of a node to another by the name of a service."""
    bridged = "/proc/sys/net/bridge/bridge-nf-call-iptables"
    script = f"echo 1 >/proc/sys/net/ipv4/ip_forward; test -e {bridged} || modprobe br_netfilter; echo 1 >{bridged}"
    try:
        _run([*_inside(pause_pid), "sh", "-c", script])
    except LocalError as err:
        raise LocalError(f"the kernel lacks br_netfilter, which services need ({err}); load that module") from err


def _inside(pause_pid: int | None) -> list[str]:
    return [] if pause_pid is None else ["nsenter", "--target", str(pause_pid), "--net", "--"]


def _ip(lines: Iterable[str], pause_pid: int | None = None) -> None:
    _run([*_inside(pause_pid), "ip", "-batch", "-"], "".join(f"{line}\n" for line in lines))


def _run(command: Sequence[str], text: str = "") -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False, timeout=_SECONDS)
    if done.returncode != 0:
        raise LocalError(f"{' '.join(command)} failed: {done.stderr.strip() or 'no reason given'}")
    return done.stdout
