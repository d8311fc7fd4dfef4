"""Do options reach the flags of the programs they are about?"""

from pathlib import Path

from firebolt_local.cluster.components import (
    APISERVER,
    CONTROLLER_MANAGER,
    SCHEDULER,
    Files,
    Options,
    apiserver_flags,
    controller_manager_flags,
    scheduler_flags,
)
from firebolt_local.cluster.pki import KeyPair

HERE = Path("/cluster")
PAIR = KeyPair(HERE / "crt", HERE / "key")
FILES = Files(
    data=HERE,
    audit_policy=HERE,
    audit_log=HERE / "audit.log",
    egress=HERE / "egress.json",
    authority=PAIR,
    server=PAIR,
    kubelet_client=PAIR,
    service_account_key=HERE,
    service_account_public_key=HERE,
)


def flags(options: Options) -> set[str]:
    return {
        *apiserver_flags(options, FILES, 6443),
        *controller_manager_flags(options, FILES, HERE),
        *scheduler_flags(options, HERE),
    }


def test_given_benchmark_limits_then_the_controllers_are_not_what_gets_measured() -> None:
    more = flags(Options(folder=HERE, benchmark_limits=True)) - flags(Options(folder=HERE))
    assert more == {
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
        "--concurrent-statefulset-syncs=20",
        "--concurrent-deployment-syncs=20",
        "--max-requests-inflight=2000",
        "--max-mutating-requests-inflight=1000",
    }


def test_given_extra_flags_then_each_program_gets_its_own() -> None:
    extra = {APISERVER: ("--one",), CONTROLLER_MANAGER: ("--two",), SCHEDULER: ("--three",)}
    more = flags(Options(folder=HERE, extra_flags=extra)) - flags(Options(folder=HERE))
    assert more == {"--one", "--two", "--three"}


def test_given_chosen_controllers_then_only_they_run() -> None:
    assert "--controllers=statefulset-controller" in flags(
        Options(folder=HERE, controllers=("statefulset-controller",))
    )


def test_given_simulated_pods_then_the_way_to_pods_ends_at_the_scrape_server() -> None:
    more = flags(Options(folder=HERE, simulated_pods=True)) - flags(Options(folder=HERE))
    assert more == {"--egress-selector-config-file=/cluster/egress.json"}
