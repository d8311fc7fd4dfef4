"""Fields that we sent and that are not there: dropped by the API server, or removed by somebody?"""

import pytest

from firebolt_operator.engine.render.drift.comparison import Element, Path
from firebolt_operator.engine.render.drift.fields import AppliedFields
from firebolt_operator.refs import Manifest

OWNED: Manifest = {
    "f:spec": {
        "f:template": {
            "f:metadata": {"f:annotations": {"f:example.com/a": {}}},
            "f:spec": {
                "f:schedulingGroup": {"f:podGroupName": {}},
                "f:tolerations": {},
                "f:containers": {
                    'k:{"name":"engine"}': {
                        ".": {},
                        "f:name": {},
                        "f:lifecycle": {"f:stopSignal": {}},
                        "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:hostPort": {}}},
                    }
                },
                "f:volumes": {'k:{"name":"v"}': {".": {}, "f:projected": {"f:sources": {}}}},
            },
        }
    }
}
POD: Path = ("spec", "template", "spec")
ENGINE = Element(0, {"name": "engine"})
SOURCES: Path = (*POD, "volumes", Element(0, {"name": "v"}), "projected", "sources", Element(0, {}))


def live(manager: str = "firebolt-operator", operation: str = "Apply") -> Manifest:
    entry = {"manager": manager, "operation": operation, "fieldsV1": OWNED}
    return {"metadata": {"managedFields": [{"manager": "kubectl", "operation": "Update"}, entry]}}


@pytest.mark.parametrize(
    ("path", "is_ours"),
    [
        (("spec", "template", "metadata", "annotations", "example.com/a"), True),
        (("spec", "template", "metadata", "annotations", "example.com/b"), False),
        ((*POD, "schedulingGroup", "podGroupName"), True),
        ((*POD, "nodeName"), False),
        ((*POD, "containers", ENGINE, "lifecycle", "stopSignal"), True),
        ((*POD, "containers", ENGINE, "workingDir"), False),
        ((*POD, "containers", Element(1, {"name": "other"}), "lifecycle", "stopSignal"), False),
        ((*POD, "containers", ENGINE, "ports", Element(0, {"containerPort": 80}), "hostPort"), True),
        (
            (*POD, "containers", ENGINE, "ports", Element(0, {"containerPort": 80, "protocol": "UDP"}), "hostPort"),
            False,
        ),
        ((*POD, "tolerations", Element(0, {"key": "a"}), "tolerationSeconds"), False),
        ((*SOURCES, "clusterTrustBundle"), True),
        ((*SOURCES, "podCertificate", "keyType"), True),
        ((*SOURCES, "secret"), False),
    ],
)
def test_given_a_path_then_our_ownership_tells(path: Path, is_ours: bool) -> None:
    assert AppliedFields(live()).has(path) is is_ours


def test_given_other_managers_then_their_ownership_does_not_count() -> None:
    path: Path = (*POD, "schedulingGroup", "podGroupName")
    assert not AppliedFields(live(manager="kubectl")).has(path)
    assert not AppliedFields(live(operation="Update")).has(path)
    assert not AppliedFields({"metadata": {"managedFields": None}}).has(path)
    assert not AppliedFields({"metadata": {}}).has(path)
