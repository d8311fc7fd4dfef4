"""A port that is handed out stays free until its owner listens there."""

import os
import socket
import subprocess
import sys
from pathlib import Path

from firebolt_local.cluster import ports
from firebolt_local.cluster.ports import LOOPBACK, RANGE, free_port

ASK = "from firebolt_local.cluster.ports import free_port; print(*(free_port() for _ in range(200)))"


def test_no_port_is_handed_out_twice_nor_to_two_processes() -> None:
    mine = {free_port() for _ in range(200)}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    asked = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, check=True, env=environment)
    theirs = {int(port) for port in asked.stdout.split()}
    assert (len(mine), len(theirs), mine & theirs) == (200, 200, set[int]())


def test_the_kernel_gives_none_of_them_to_an_outgoing_connection() -> None:
    first, _ = Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()
    assert RANGE.stop <= int(first)


def test_a_port_that_somebody_listens_on_is_passed_over() -> None:
    with socket.socket() as taken:
        port = free_port()
        taken.bind((LOOPBACK, port))
        taken.listen()
        ports._claims.pop().close()
        assert not ports._is_free(port)
    assert ports._is_free(port)
