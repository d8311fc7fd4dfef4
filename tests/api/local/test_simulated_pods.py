"""Do simulated pods start, fail and go away as their annotations say?"""

import pytest

from firebolt_local.cluster.kube_http import KubeRequestError
from firebolt_local.cluster.simulated_pods import SimulatedPods
from tests.support.workloads import Pods, a_pod, a_pod_template, a_statefulset, eventually


@pytest.fixture
def pods(simulated_pods: SimulatedPods, namespace: str) -> Pods:
    return Pods(simulated_pods.control_plane.http, namespace)


def test_given_a_statefulset_of_three_then_all_become_ready_with_volumes(pods: Pods) -> None:
    collection = f"/apis/apps/v1/namespaces/{pods.namespace}/statefulsets"
    pods.http.create(collection, a_statefulset("engine", replicas=3, with_volume=True))
    eventually(lambda: pods.http.get(f"{collection}/engine")["status"].get("readyReplicas") == 3)
    claims = pods.http.get(f"/api/v1/namespaces/{pods.namespace}/persistentvolumeclaims")["items"]
    assert [claim["status"]["phase"] for claim in claims] == ["Bound"] * 3


def test_given_a_deployment_then_it_becomes_available(pods: Pods) -> None:
    collection = f"/apis/apps/v1/namespaces/{pods.namespace}/deployments"
    template = a_pod_template()
    spec = {"replicas": 2, "selector": {"matchLabels": template["metadata"]["labels"]}, "template": template}
    manifest = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "gateway"}, "spec": spec}
    pods.http.create(collection, manifest)
    eventually(lambda: pods.http.get(f"{collection}/gateway")["status"].get("availableReplicas") == 2)


def test_given_a_released_volume_then_it_serves_the_next_claim(pods: Pods) -> None:
    collection = f"/api/v1/namespaces/{pods.namespace}/persistentvolumeclaims"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec}
    pods.http.create(collection, claim)
    volume: str = eventually(lambda: pods.http.get(f"{collection}/data")["spec"].get("volumeName"))
    pods.http.delete(f"{collection}/data")
    eventually(lambda: pods.http.get(f"/api/v1/persistentvolumes/{volume}")["status"]["phase"] == "Available")


def test_given_readiness_is_switched_off_and_on_then_the_pod_follows(pods: Pods) -> None:
    pods.create("pod")
    eventually(lambda: pods.is_ready("pod"))
    pods.annotate("pod", {"sim.firebolt.io/ready": "false"})
    eventually(lambda: not pods.is_ready("pod"))
    assert pods.condition("pod", "Ready")["message"] == "containers with unready status: [engine]"
    pods.annotate("pod", {"sim.firebolt.io/ready": None})
    eventually(lambda: pods.is_ready("pod"))


def test_given_a_long_delay_then_the_pod_runs_but_is_not_ready_until_it_is_cut_short(pods: Pods) -> None:
    pods.create("pod", {"sim.firebolt.io/ready-after": "1h"})
    eventually(lambda: "running" in pods.state("pod"))
    assert not pods.is_ready("pod")
    pods.annotate("pod", {"sim.firebolt.io/ready-after": "10ms"})
    eventually(lambda: pods.is_ready("pod"))


def test_given_readiness_is_switched_off_while_waiting_then_the_pod_never_turns_ready(pods: Pods) -> None:
    pods.create("pod", {"sim.firebolt.io/ready-after": "700ms"})
    eventually(lambda: "running" in pods.state("pod"))
    pods.annotate("pod", {"sim.firebolt.io/ready": "false"})
    pods.create("later", {"sim.firebolt.io/ready-after": "900ms"})
    eventually(lambda: pods.is_ready("later"))
    assert pods.condition("pod", "Ready")["status"] == "False"


@pytest.mark.parametrize(
    ("fault", "kind", "phase"),
    [
        pytest.param("CrashLoopBackOff", "waiting", "Running", id="crash-loop"),
        pytest.param("ImagePullBackOff", "waiting", "Pending", id="image-pull"),
        pytest.param("CreateContainerConfigError", "waiting", "Pending", id="any-waiting-reason"),
        pytest.param("OOMKilled", "terminated", "Running", id="out-of-memory"),
    ],
)
def test_given_a_fault_on_the_template_then_the_pod_shows_it(pods: Pods, fault: str, kind: str, phase: str) -> None:
    pods.create("pod", {"sim.firebolt.io/fault": fault, "sim.firebolt.io/message": "as told"})
    state = eventually(lambda: pods.state("pod").get(kind))
    assert (state["reason"], state["message"]) == (fault, "as told")
    assert pods.get("pod")["status"]["phase"] == phase
    assert not pods.is_ready("pod")
    assert "running" in pods.state("pod", "side")


def test_given_a_live_pod_then_faults_come_change_and_go(pods: Pods) -> None:
    pods.create("pod")
    eventually(lambda: pods.is_ready("pod"))
    pods.annotate("pod", {"sim.firebolt.io/fault": "OOMKilled"})
    assert eventually(lambda: pods.state("pod").get("terminated"))["exitCode"] == 137
    crash = {"sim.firebolt.io/fault": "CrashLoopBackOff", "sim.firebolt.io/last-termination": "OOMKilled"}
    pods.annotate("pod", dict(crash))
    eventually(lambda: pods.state("pod").get("waiting"))
    status = pods.get("pod")["status"]["containerStatuses"][0]
    assert (status["restartCount"], status["lastState"]["terminated"]["reason"]) == (1, "OOMKilled")
    pods.annotate("pod", dict.fromkeys(crash))
    eventually(lambda: pods.is_ready("pod"))


def test_given_a_named_container_then_the_fault_is_its_own(pods: Pods) -> None:
    pods.create("pod", {"sim.firebolt.io/fault": "ImagePullBackOff", "sim.firebolt.io/container": "side"})
    state = eventually(lambda: pods.state("pod", "side").get("waiting"))
    assert state["message"] == 'Back-off pulling image "side:1"'
    assert "running" in pods.state("pod", "engine")


def test_given_a_held_deletion_then_the_pod_stays_until_it_is_let_go(pods: Pods) -> None:
    pods.create("pod", {"sim.firebolt.io/delete-after": "1h"})
    pods.create("other")
    eventually(lambda: pods.is_ready("pod") and pods.is_ready("other"))
    pods.delete("pod")
    pods.delete("other")
    eventually(lambda: _is_gone(pods, "other"))
    assert pods.get("pod")["metadata"]["deletionTimestamp"]
    pods.annotate("pod", {"sim.firebolt.io/delete-after": "0s"})
    eventually(lambda: _is_gone(pods, "pod"))


def test_given_a_pod_that_no_node_suits_then_the_scheduler_says_why(pods: Pods) -> None:
    pod = a_pod("pod")
    pods.http.create(pods.path, {**pod, "spec": {**pod["spec"], "nodeSelector": {"no": "where"}}})
    assert eventually(lambda: pods.condition("pod", "PodScheduled"))["reason"] == "Unschedulable"


def test_given_a_settled_pod_then_it_is_left_alone(pods: Pods) -> None:
    pods.create("pod")
    eventually(lambda: pods.is_ready("pod"))
    before = pods.get("pod")["metadata"]["resourceVersion"]
    pods.create("later", {"sim.firebolt.io/ready-after": "500ms"})
    eventually(lambda: pods.is_ready("later"))
    assert pods.get("pod")["metadata"]["resourceVersion"] == before


def _is_gone(pods: Pods, name: str) -> bool:
    try:
        pods.get(name)
    except KubeRequestError as err:
        return err.status == 404
    return False
