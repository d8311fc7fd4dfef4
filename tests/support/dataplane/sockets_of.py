"""Which TCP sockets does a running process have, and with which options? The kernel is asked, not the process."""

import ctypes
import os
import socket
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PIDFD_GETFD: Final = 438  # the system call's number, the same on every architecture that is newer than it
TCP_USER_TIMEOUT: Final = 18


@dataclass(frozen=True, slots=True)
class SocketOptions:
    keepalive: bool
    idle_seconds: int
    interval_seconds: int
    probes: int
    user_timeout_ms: int  # 0 means that the kernel's own limit counts


@dataclass(frozen=True, slots=True)
class TcpSocket:
    local: tuple[str, int]
    remote: tuple[str, int] | None  # None while it listens
    options: SocketOptions


def tcp_sockets(pid: int) -> list[TcpSocket]:
    handle = os.pidfd_open(pid)
    try:
        numbers = [int(entry.name) for entry in Path(f"/proc/{pid}/fd").iterdir() if _is_socket(entry)]
        found = [_described(handle, number) for number in numbers]
    finally:
        os.close(handle)
    return [each for each in found if each is not None]


def _is_socket(entry: Path) -> bool:
    try:
        return str(entry.readlink()).startswith("socket:")
    except FileNotFoundError:
        return False  # closed meanwhile


def _described(handle: int, number: int) -> TcpSocket | None:
    """None for what is no TCP socket, or was closed meanwhile."""
    copy: int = ctypes.CDLL(None, use_errno=True).syscall(PIDFD_GETFD, handle, number, 0)
    if copy < 0:
        return None
    with closing(socket.socket(fileno=copy)) as found:
        if found.family != socket.AF_INET or found.type != socket.SOCK_STREAM:
            return None
        return TcpSocket(found.getsockname(), _peer(found), _options(found))


def _peer(found: socket.socket) -> tuple[str, int] | None:
    try:
        host, port = found.getpeername()
    except OSError:
        return None
    return host, port


def _options(found: socket.socket) -> SocketOptions:
    def tcp(name: int) -> int:
        return found.getsockopt(socket.IPPROTO_TCP, name)

    return SocketOptions(
        keepalive=bool(found.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)),
        idle_seconds=tcp(socket.TCP_KEEPIDLE),
        interval_seconds=tcp(socket.TCP_KEEPINTVL),
        probes=tcp(socket.TCP_KEEPCNT),
        user_timeout_ms=tcp(TCP_USER_TIMEOUT),
    )
