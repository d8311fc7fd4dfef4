"""Do the facts of a machine reach the settings of the programs they are about?"""

import tomllib
from dataclasses import replace
from ipaddress import IPv4Network
from pathlib import Path

import pytest
import tomli_w

from firebolt_local.cluster.pki import KeyPair
from firebolt_local.node.containerd import Runtime, containerd_config, containerd_environment, pod_network
from firebolt_local.node.kubelet import KubeletFacts, has_sys_resource, kubelet_config, kubelet_flags, proxy_flags

HERE = Path("/cluster")
FACTS = KubeletFacts(
    name="node-1",
    address="10.96.128.2",
    dns="10.96.0.10",
    authority=HERE / "ca.crt",
    serving=KeyPair(HERE / "kubelet.crt", HERE / "kubelet.key"),
    cgroup_root="/firebolt-local-x/node-1",
    has_unified_cgroups=True,
    can_lower_oom_score=True,
)
RUNTIME = Runtime(
    data=HERE / "containerd",
    cni_programs=Path("/usr/lib/cni"),
    cni_config=HERE / "cni",
    can_lower_oom_score=True,
)


@pytest.mark.parametrize(
    ("facts", "more"),
    [
        pytest.param(FACTS, {}, id="version-2-and-all-capabilities-need-nothing"),
        pytest.param(replace(FACTS, has_unified_cgroups=False), {"failCgroupV1": False}, id="version-1-is-accepted"),
        pytest.param(replace(FACTS, can_lower_oom_score=False), {"oomScoreAdj": 0}, id="no-score-that-is-forbidden"),
    ],
)
def test_given_a_machine_then_the_kubelet_asks_for_what_it_has(facts: KubeletFacts, more: dict[str, object]) -> None:
    plain = kubelet_config(FACTS)
    assert kubelet_config(facts) == plain | more
    assert (plain["cgroupDriver"], plain["cgroupRoot"]) == ("cgroupfs", "/firebolt-local-x/node-1")


def test_given_a_node_then_the_kubelet_goes_by_its_name_and_address() -> None:
    assert kubelet_flags(FACTS, HERE / "kubelet.json", HERE / "kubeconfig") == [
        "--config=/cluster/kubelet.json",
        "--kubeconfig=/cluster/kubeconfig",
        "--hostname-override=node-1",
        "--node-ip=10.96.128.2",
    ]


@pytest.mark.parametrize("can_lower", [True, False])
def test_given_a_machine_then_containerd_reads_its_settings(can_lower: bool) -> None:
    written = tomllib.loads(tomli_w.dumps(containerd_config(replace(RUNTIME, can_lower_oom_score=can_lower))))
    runtime = written["plugins"]["io.containerd.cri.v1.runtime"]
    assert runtime["restrict_oom_score_adj"] is not can_lower
    assert runtime["containerd"]["runtimes"]["runc"]["options"] == {"SystemdCgroup": False}
    assert runtime["cni"] == {"bin_dirs": ["/usr/lib/cni"], "conf_dir": "/cluster/cni"}
    assert written["plugins"]["io.containerd.cri.v1.images"]["pinned_images"] == {"sandbox": "localhost/pause:1"}
    assert (written["version"], written["root"]) == (3, "/cluster/containerd")


def test_given_the_shim_then_containerd_finds_it_before_others() -> None:
    assert containerd_environment(Path("/built/containerd-shim-runc-v2"))["PATH"].split(":")[0] == "/built"


def test_given_a_range_then_pods_get_addresses_from_it() -> None:
    bridge, ports = pod_network(IPv4Network("10.96.64.0/24"))["plugins"]
    assert bridge["ipam"]["ranges"] == [[{"subnet": "10.96.64.0/24"}]]
    assert (bridge["type"], bridge["hairpinMode"], ports["type"]) == ("bridge", True, "portmap")


def test_given_all_pods_then_the_proxy_knows_who_is_a_stranger() -> None:
    assert "--cluster-cidr=10.96.64.0/18" in proxy_flags("node-1", IPv4Network("10.96.64.0/18"), HERE)


@pytest.mark.parametrize(
    ("effective", "expected"),
    [
        pytest.param("000001ffffffffff", True, id="all"),
        pytest.param("000001fffeffffff", False, id="all-but-this"),
    ],
)
def test_given_capabilities_then_the_one_that_matters_is_found(effective: str, expected: bool) -> None:
    assert has_sys_resource(f"Name:\tx\nCapEff:\t{effective}\n") is expected
