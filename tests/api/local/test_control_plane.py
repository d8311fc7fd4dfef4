"""Is the control plane the real thing, and do its switches do what they say?"""

from firebolt_local.control_plane import ControlPlane


def test_given_the_shared_control_plane_then_it_is_the_pinned_kubernetes(control_plane: ControlPlane) -> None:
    assert control_plane.http.get("/version")["gitVersion"] == "v1.36.3"


def test_given_a_namespace_then_the_controllers_fill_it(control_plane: ControlPlane, namespace: str) -> None:
    assert control_plane.http.get(f"/api/v1/namespaces/{namespace}")["status"]["phase"] == "Active"
