"""Do the chart's rights suffice? The operator runs with its account, and the API server refuses it nothing."""

import ssl
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.control_plane import ControlPlane
from firebolt_local.simulated_pods import SimulatedPods
from tests.api.chart.installed import Installed, installed

EXAMPLE = Path(__file__).parents[3] / "examples/quickstart.yaml"
CLASS = """
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEngineClass
metadata: {name: small}
spec: {template: {}}
"""
WITH_CLASS = '{"spec": {"engineClassRef": "small"}}'
PATIENCE = "--timeout=60s"


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"drainSettle": "0"}, id="cluster-wide"),
        pytest.param({"drainSettle": "0", "watchNamespaces": ["default"]}, id="one-namespace"),
    ],
)
def test_given_the_chart_when_the_operator_does_all_it_can_then_nothing_is_refused(
    fresh_control_plane: Callable[..., ControlPlane],
    built_programs: dict[str, Path],
    tmp_path: Path,
    values: dict[str, Any],
) -> None:
    plane = fresh_control_plane(simulated_pods=True)
    SimulatedPods(plane, built_programs).start()
    with installed(plane, values, tmp_path / "operator.log") as operator:
        _live(operator)
        _ask_for_metrics(operator)
        _die(operator)
        requests = operator.requests()
    assert [request for request in requests if request[2] in {401, 403}] == []
    done = {(verb, resource) for verb, resource, _ in requests}
    assert {
        ("get", "pods/proxy"),
        ("patch", "rbac.authorization.k8s.io/roles"),
        ("patch", "rbac.authorization.k8s.io/rolebindings"),
        ("create", "secrets"),
        ("create", "events.k8s.io/events"),
        ("update", "coordination.k8s.io/leases"),
        ("create", "authentication.k8s.io/tokenreviews"),
        ("create", "authorization.k8s.io/subjectaccessreviews"),
        ("delete", "persistentvolumeclaims"),
    } <= done


def _live(operator: Installed) -> None:
    operator.kubectl("apply", "-f", str(EXAMPLE))
    operator.kubectl("wait", "--for=condition=Ready", PATIENCE, "fireboltinstance/demo", "fireboltengine/analytics")
    operator.kubectl("patch", "fireboltengine/analytics", "--type=merge", "--patch", WITH_CLASS)
    operator.plane.wait_until(lambda: "EngineClassMissing" in operator.kubectl("get", "events"), "a word of warning")
    operator.kubectl("apply", "-f", "-", stdin=CLASS)
    operator.kubectl("scale", "fireboltengine/analytics", "--replicas=3")
    operator.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("wait", "--for=jsonpath={.status.phase}=stable", PATIENCE, "fireboltengine/analytics")


def _die(operator: Installed) -> None:
    operator.kubectl("delete", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("delete", PATIENCE, "fireboltinstance/demo", "fireboltengineclass/small")


def _ask_for_metrics(operator: Installed) -> None:
    """A stranger with a valid token: the operator has to ask who that is, and whether it may."""
    token = operator.kubectl("create", "token", "default").strip()
    request = urllib.request.Request(
        f"https://127.0.0.1:{operator.metrics_port}/metrics", headers={"Authorization": f"Bearer {token}"}
    )
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, context=context, timeout=30)
