"""Sockets in network namespaces, and a link between two of them that can be cut without either end being told."""

import ctypes
import os
import secrets
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

CLONE_NEWNET: Final = 0x40000000
NEAR_ADDRESS: Final = "10.211.0.1"
FAR_ADDRESSES: Final = ("10.211.0.2", "10.211.0.3", "10.211.0.4")
NEAR_MAC: Final = "02:00:00:00:00:01"
FAR_MAC: Final = "02:00:00:00:00:02"


@dataclass(frozen=True, slots=True)
class Link:
    near: str  # namespaces by name
    far: str

    def cut(self) -> None:
        """From now on nothing arrives, in either direction, and nobody says goodbye."""
        _ip("-n", self.far, "link", "set", "far", "down")

    def give_up_after(self, retransmissions: int) -> None:
        """How often the kernel on the near side sends data again before it calls the peer gone; usually 15 times."""
        setting = "/proc/sys/net/ipv4/tcp_retries2"
        command = [*inside(self.near), "sh", "-c", f"echo {retransmissions} > {setting}"]
        subprocess.run(command, check=True, timeout=10, capture_output=True)


def is_possible() -> bool:
    return os.geteuid() == 0 and shutil.which("ip") is not None and shutil.which("nsenter") is not None


@contextmanager
def linked_namespaces() -> Generator[Link]:
    tag = secrets.token_hex(3)
    link = Link(f"fb-near-{tag}", f"fb-far-{tag}")
    try:
        for namespace in (link.near, link.far):
            _ip("netns", "add", namespace)
            _ip("-n", namespace, "link", "set", "lo", "up")
        _ip("-n", link.near, "link", "add", "near", "address", NEAR_MAC, "type", "veth",
            "peer", "name", "far", "address", FAR_MAC, "netns", link.far)  # fmt: skip
        _configure(link.near, "near", (NEAR_ADDRESS,), FAR_ADDRESSES, FAR_MAC)
        _configure(link.far, "far", FAR_ADDRESSES, (NEAR_ADDRESS,), NEAR_MAC)
        yield link
    finally:
        for namespace in (link.near, link.far):
            _ip("netns", "delete", namespace, check=False)


def inside(namespace: str) -> list[str]:
    """What to put before a command so that it runs there."""
    return ["nsenter", f"--net={_file(namespace)}"] if namespace else []


def tcp_socket(namespace: str) -> socket.socket:
    return _made_inside(namespace, lambda: _non_blocking(socket.SOCK_STREAM))


def udp_socket(namespace: str, address: str, port: int) -> socket.socket:
    made = _made_inside(namespace, lambda: _non_blocking(socket.SOCK_DGRAM))
    made.bind((address, port))
    return made


def listening_socket(namespace: str, address: str, port: int) -> socket.socket:
    made = _made_inside(namespace, lambda: _non_blocking(socket.SOCK_STREAM))
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind((address, port))
    return made


def _non_blocking(kind: socket.SocketKind) -> socket.socket:
    made = socket.socket(socket.AF_INET, kind)
    made.setblocking(False)
    return made


def _made_inside(namespace: str, make: Callable[[], socket.socket]) -> socket.socket:
    """A socket stays in the namespace it was made in; a thread of its own visits that one for a moment."""
    if not namespace:
        return make()
    made: list[socket.socket] = []

    def visit() -> None:
        with _file(namespace).open("rb") as handle:
            if ctypes.CDLL(None, use_errno=True).setns(handle.fileno(), CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), f"cannot enter {namespace}")
        made.append(make())

    visitor = threading.Thread(target=visit)
    visitor.start()
    visitor.join()
    return made[0]


def _configure(namespace: str, device: str, own: tuple[str, ...], others: tuple[str, ...], mac: str) -> None:
    for address in own:
        _ip("-n", namespace, "address", "add", f"{address}/24", "dev", device)
    _ip("-n", namespace, "link", "set", device, "up")
    for address in others:
        # Known for good: a failing neighbour lookup would tell TCP that the peer is gone.
        _ip("-n", namespace, "neighbour", "add", address, "lladdr", mac, "dev", device, "nud", "permanent")


def _file(namespace: str) -> Path:
    return Path("/run/netns") / namespace


def _ip(*arguments: str, check: bool = True) -> None:
    subprocess.run(["ip", *arguments], check=check, timeout=10, capture_output=True)
