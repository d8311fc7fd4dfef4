"""Do clusters keep out of each other's addresses, and out of the host's?"""

import json
from ipaddress import IPv4Network

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.node.addresses import BLOCKS, Addresses, choose_addresses
from firebolt_local.node.network import read_routes

FIRST = Addresses(IPv4Network("10.96.0.0/16"))


def test_given_a_block_then_its_parts_do_not_overlap() -> None:
    parts = [FIRST.services, FIRST.pods, FIRST.nodes]
    assert [str(part) for part in parts] == ["10.96.0.0/18", "10.96.64.0/18", "10.96.128.0/24"]
    assert [str(FIRST.api_service), str(FIRST.dns_service)] == ["10.96.0.1", "10.96.0.10"]


def test_given_nodes_then_each_has_an_address_and_pods_of_its_own() -> None:
    assert [str(FIRST.host), str(FIRST.node(1)), str(FIRST.node(2))] == ["10.96.128.1", "10.96.128.2", "10.96.128.3"]
    assert [str(FIRST.pods_of(1)), str(FIRST.pods_of(2))] == ["10.96.64.0/24", "10.96.65.0/24"]


@pytest.mark.parametrize(
    ("taken", "chosen"),
    [
        pytest.param([], "10.96.0.0/16", id="the-first-on-a-free-machine"),
        pytest.param(["10.96.128.1/32"], "10.97.0.0/16", id="another-cluster-has-the-first"),
        pytest.param(["10.0.0.0/8"], "172.28.0.0/16", id="a-company-network-has-all-of-ten"),
        pytest.param(["10.0.0.0/8", "172.16.0.0/12"], "198.18.0.0/16", id="only-the-last-are-free"),
    ],
)
def test_given_what_is_taken_then_the_first_free_block_is_chosen(taken: list[str], chosen: str) -> None:
    assert choose_addresses(map(IPv4Network, taken)) == Addresses(IPv4Network(chosen))


def test_given_no_free_block_then_it_says_so() -> None:
    with pytest.raises(LocalError, match="end another cluster"):
        choose_addresses(BLOCKS)


def test_given_routes_then_everything_but_a_default_is_taken() -> None:
    answer = json.dumps(
        [
            {"dst": "default", "gateway": "192.0.2.1"},
            {"dst": "0.0.0.0/1", "dev": "tun0"},
            {"dst": "128.0.0.0/1", "dev": "tun0"},
            {"dst": "192.0.2.0/24", "dev": "eth0"},
            {"type": "local", "dst": "192.0.2.2", "dev": "eth0"},
        ]
    )
    assert read_routes(answer) == [IPv4Network("192.0.2.0/24"), IPv4Network("192.0.2.2/32")]
    assert read_routes("") == []
