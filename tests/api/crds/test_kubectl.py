"""What do people see of our kinds with kubectl, and what can autoscalers do?"""

from datetime import UTC, datetime

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.conditions import Condition
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.engine_class import EngineClassStatus
from firebolt_operator.api.instance import InstanceStatus
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import encode_status
from firebolt_operator.kube.paths import object_path
from tests.api.crds.conftest import Stored
from tests.support.kubectl import kubectl

SELECTOR = "firebolt.io/engine=it,firebolt.io/generation=2"


def ready(reason: str) -> list[Condition]:
    at = datetime(2026, 3, 1, tzinfo=UTC)
    return [Condition(type="Ready", status="True", reason=reason, message="", last_transition_time=at)]


@pytest.fixture
async def a_fleet(stored: Stored) -> Stored:
    engine = {"instanceRef": "main", "engineClassRef": "big", "replicas": 3}
    await stored.create(FIREBOLT_INSTANCES, {"metadata": {}, "gateway": {}})
    await stored.create(FIREBOLT_ENGINES, engine)
    await stored.create(FIREBOLT_ENGINE_CLASSES, {"template": {}})
    instance = InstanceStatus(phase="Ready", metadata_ready=True, conditions=ready("AllComponentsReady"))
    serving = EngineStatus(
        current_generation=2,
        active_generation=2,
        phase="stable",
        replicas=3,
        ready_replicas=2,
        selector=SELECTOR,
        conditions=ready("EngineReady"),
    )
    admissible = EngineClassStatus(conditions=ready("Admissible"))
    await stored.replace_status(FIREBOLT_INSTANCES, encode_status(instance))
    await stored.replace_status(FIREBOLT_ENGINES, encode_status(serving))
    await stored.replace_status(FIREBOLT_ENGINE_CLASSES, encode_status(admissible))
    return stored


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        pytest.param(
            ["fire"],
            ["NAME PHASE GATEWAY METADATA AGE", "it Ready false true <age>"],
            id="instances",
        ),
        pytest.param(
            ["fire", "-o", "wide"],
            ["NAME PHASE GATEWAY METADATA AGE REASON", "it Ready false true <age> AllComponentsReady"],
            id="instances-in-full",
        ),
        pytest.param(
            ["fireng"],
            ["NAME REPLICAS PHASE READY GENERATION AGE", "it 3 stable True 2 <age>"],
            id="engines",
        ),
        pytest.param(
            ["fireng", "-o", "wide"],
            [
                "NAME REPLICAS PHASE READY GENERATION AGE PODS INSTANCE CLASS REASON",
                "it 3 stable True 2 <age> 2 main big EngineReady",
            ],
            id="engines-in-full",
        ),
        pytest.param(["firengc"], ["NAME BOUND READY AGE", "it 0 True <age>"], id="classes"),
    ],
)
def test_columns(control_plane: ControlPlane, a_fleet: Stored, arguments: list[str], expected: list[str]) -> None:
    table = kubectl(control_plane.kubeconfig, ["get", "-n", a_fleet.namespace, *arguments])
    lines = [line.split() for line in table.splitlines()]
    age = lines[0].index("AGE")
    lines[1][age] = "<age>"
    assert [" ".join(line) for line in lines] == expected


SHARED = """
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEnginePreset
metadata: {name: firebolt}
spec: {template: {}}
---
apiVersion: compute.firebolt.io/v1alpha1
kind: ClusterFireboltEngineClass
metadata: {name: of-everybody}
spec: {template: {}}
"""


def test_given_the_category_then_all_kinds_are_listed(control_plane: ControlPlane, a_fleet: Stored) -> None:
    kubectl(control_plane.kubeconfig, ["apply", "-n", a_fleet.namespace, "-f", "-"], stdin=SHARED)
    names = kubectl(control_plane.kubeconfig, ["get", "firebolt", "-n", a_fleet.namespace, "-o", "name"]).split()
    of_cluster = {name for name in names if name.startswith("clusterfireboltengineclass")}  # others may have some too
    assert "clusterfireboltengineclass.compute.firebolt.io/of-everybody" in of_cluster
    assert sorted(set(names) - of_cluster) == [
        "fireboltengine.compute.firebolt.io/it",
        "fireboltengineclass.compute.firebolt.io/it",
        "fireboltenginepreset.compute.firebolt.io/firebolt",
        "fireboltinstance.compute.firebolt.io/it",
    ]


def test_columns_of_what_engines_share(control_plane: ControlPlane, a_fleet: Stored) -> None:
    kubectl(control_plane.kubeconfig, ["apply", "-n", a_fleet.namespace, "-f", "-"], stdin=SHARED)

    def columns(*words: str) -> list[str]:
        return kubectl(control_plane.kubeconfig, ["get", "-n", a_fleet.namespace, *words]).splitlines()[0].split()

    assert columns("firengp") == ["NAME", "BOUND", "READY", "AGE"]
    assert columns("cfirengc", "of-everybody") == ["NAME", "AGE"]


def test_given_a_serving_engine_then_its_scale_can_be_read(control_plane: ControlPlane, a_fleet: Stored) -> None:
    scale = control_plane.http.get(object_path(a_fleet.ref(FIREBOLT_ENGINES), "scale"))
    assert (scale["spec"], scale["status"]) == ({"replicas": 3}, {"replicas": 3, "selector": SELECTOR})


async def test_when_kubectl_scales_an_engine_its_spec_changes(control_plane: ControlPlane, a_fleet: Stored) -> None:
    kubectl(control_plane.kubeconfig, ["scale", "fireng/it", "--replicas=5", "-n", a_fleet.namespace])
    assert (await a_fleet.read(FIREBOLT_ENGINES))["spec"]["replicas"] == 5


def test_when_kubectl_explains_a_field_then_our_words_are_shown(control_plane: ControlPlane, a_fleet: Stored) -> None:
    del a_fleet
    text = kubectl(control_plane.kubeconfig, ["explain", "fireboltengine.spec.autoStop"])
    assert "When the engine is parked and woken." in text
