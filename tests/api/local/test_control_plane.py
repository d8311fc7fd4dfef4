"""Is the control plane the real thing, and do its switches do what they say?"""

import http.client
import json
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from firebolt_local.cluster import processes
from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.existing import read_existing
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.cluster.pki import KeyPair
from firebolt_local.cluster.ports import free_port
from firebolt_local.errors import LocalError, PortTakenError
from firebolt_local.programs import provision
from firebolt_local.programs.recipes import kubernetes_release

StartControlPlane = Callable[..., ControlPlane]
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"


def a_config_map(name: str) -> dict[str, object]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


def test_given_the_shared_control_plane_then_it_is_the_pinned_kubernetes(control_plane: ControlPlane) -> None:
    assert control_plane.http.get("/version")["gitVersion"] == f"v{kubernetes_release(provision.chosen_kubernetes())}"


def test_given_a_namespace_then_it_is_there(control_plane: ControlPlane, namespace: str) -> None:
    assert control_plane.http.get(f"/api/v1/namespaces/{namespace}")["status"]["phase"] == "Active"


def test_given_an_actor_of_its_own_then_the_audit_log_counts_its_requests(
    control_plane: ControlPlane, namespace: str
) -> None:
    actor = client_of(control_plane, "counted")
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    actor.create(path, a_config_map("one"))
    actor.get(f"{path}/one")
    actor.get(f"{path}/one")
    lines = [json.loads(line) for line in control_plane.audit_log.read_text().splitlines()]
    verbs = Counter(line["verb"] for line in lines if line["user"].get("username") == "counted")
    assert verbs == {"create": 1, "get": 2}


def test_given_an_actor_without_groups_then_it_may_do_nothing(control_plane: ControlPlane) -> None:
    nobody = client_of(control_plane, "nobody", ())
    status, answer = nobody.text("GET", CONFIG_MAPS)
    assert status == 403
    assert 'User \\"nobody\\" cannot list' in answer


def test_given_the_admin_kubeconfig_then_any_client_finds_the_server(control_plane: ControlPlane) -> None:
    assert read_existing(control_plane.kubeconfig).server == control_plane.server
    assert read_existing(control_plane.kubeconfig).http.is_ready()


def test_when_the_api_server_is_killed_then_it_comes_back_with_the_same_data(
    fresh_control_plane: StartControlPlane,
) -> None:
    plane = fresh_control_plane()
    plane.http.create(CONFIG_MAPS, a_config_map("kept"))
    server = plane.server
    plane.kill_apiserver()
    assert not plane.http.is_ready()
    plane.start_apiserver()
    assert plane.server == server
    assert plane.http.get(f"{CONFIG_MAPS}/kept")["metadata"]["name"] == "kept"
    plane.kill_apiserver()
    plane.kill_apiserver()  # killing the dead is no error


def test_when_history_is_compacted_then_an_old_watch_gets_410(fresh_control_plane: StartControlPlane) -> None:
    plane = fresh_control_plane(controllers=(), scheduler=False)
    old = plane.http.create(CONFIG_MAPS, a_config_map("first"))["metadata"]["resourceVersion"]
    for number in range(3):
        plane.http.create(CONFIG_MAPS, a_config_map(f"later-{number}"))
    plane.compact_etcd()
    status, answer = plane.http.text("GET", f"{CONFIG_MAPS}?watch=1&resourceVersion={old}&timeoutSeconds=5")
    assert 410 in (status, json.loads(answer.splitlines()[0]).get("object", {}).get("code"))


def test_given_two_side_by_side_then_they_share_nothing(
    control_plane: ControlPlane, fresh_control_plane: StartControlPlane
) -> None:
    other = fresh_control_plane(controllers=(), scheduler=False)
    other.http.create(CONFIG_MAPS, a_config_map("only-here"))
    assert control_plane.http.text("GET", f"{CONFIG_MAPS}/only-here")[0] == 404
    assert read_existing(control_plane.kubeconfig).server != other.server


def test_when_stopped_then_no_process_and_no_data_is_left(fresh_control_plane: StartControlPlane) -> None:
    plane = fresh_control_plane()
    running = processes.read_records(plane.folder)
    assert set(running) == set(provision.CONTROL_PLANE)
    plane.stop()
    assert not any(record.is_alive() for record in running.values())
    assert not (plane.folder / "etcd").exists()
    plane.stop()  # stopping twice is no error


def test_given_a_port_that_is_taken_meanwhile_then_another_is_tried(
    fresh_control_plane: StartControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        occupied = taken.getsockname()[1]
        offers = iter([occupied])
        monkeypatch.setattr("firebolt_local.cluster.control_plane.free_port", lambda: next(offers, None) or free_port())
        plane = fresh_control_plane(controllers=(), scheduler=False)
        assert plane.port != occupied
        assert plane.http.is_ready()


def test_given_a_chosen_port_that_is_taken_then_it_says_so_and_nothing_runs(
    tmp_path: Path, built_programs: dict[str, Path]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        options = Options(folder=tmp_path / "plane", port=taken.getsockname()[1])
        plane = ControlPlane(options, built_programs)
        with pytest.raises(PortTakenError, match=f"port {options.port} is taken"):
            plane.start()
    assert not any(record.is_alive() for record in processes.read_records(plane.folder).values())


def test_given_a_program_that_fails_then_it_is_named_and_nothing_runs(
    tmp_path: Path, built_programs: dict[str, Path]
) -> None:
    broken = {**built_programs, "etcd": Path("/bin/false")}
    plane = ControlPlane(Options(folder=tmp_path / "plane"), broken)
    with pytest.raises(LocalError, match="etcd ended by itself"):
        plane.start()
    assert not any(record.is_alive() for record in processes.read_records(plane.folder).values())


def test_requests_share_a_connection(control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch) -> None:
    client, made, connect = client_of(control_plane, "thrifty"), list[str](), http.client.HTTPSConnection.connect

    def counted(self: http.client.HTTPSConnection) -> None:
        made.append(self.host)
        connect(self)

    monkeypatch.setattr(http.client.HTTPSConnection, "connect", counted)
    for _ in range(5):
        client.get("/version")
    assert len(made) == 1


@pytest.mark.slow
def test_given_an_etcd_that_takes_its_time_then_the_api_server_starts_after_it(
    tmp_path: Path, built_programs: dict[str, Path]
) -> None:
    late = tmp_path / "etcd"
    late.write_text(f'#!/bin/sh\nsleep 30\nexec {built_programs["etcd"]} "$@"\n')
    late.chmod(0o755)
    options = Options(folder=tmp_path / "plane", controllers=(), scheduler=False)
    plane = ControlPlane(options, {**built_programs, "etcd": late})
    try:
        assert plane.start().http.is_ready()
    finally:
        plane.stop()


def client_of(plane: ControlPlane, user: str, groups: tuple[str, ...] = ("system:masters",)) -> KubeHttp:
    """As a real client would: from the kubeconfig alone."""
    config = yaml.load(plane.kubeconfig_for(user, groups).read_text(), yaml.CSafeLoader)
    assert config["users"][0]["name"] == user
    pair = KeyPair(plane.folder / "pki" / f"user-{user}.crt", plane.folder / "pki" / f"user-{user}.key")
    return KubeHttp.with_certificate(plane.server, plane.ca_file, pair)
