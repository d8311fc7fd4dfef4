"""What GitOps tools make of our statuses: their own files, run in their own languages, on statuses as we write them."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import cel
import msgspec
import pytest
import yaml
from lupa import lua51

from firebolt_operator.api import kstatus
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.engine_class import EngineClassSpec, EngineClassStatus, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.api.names import EngineReason, InstanceReason
from firebolt_operator.engine.decide.progress import Findings, with_findings
from firebolt_operator.engineclass.decide.status import decide_status
from firebolt_operator.instance.decide.components import decide_instance
from firebolt_operator.instance.facts import Readiness
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest
from scripts.write_gitops import ARGO_CD, FLUX, argo_cd, flux
from tests.support import instances
from tests.support.engines import NOON, a_status, an_engine

HEALTHY, PROGRESSING, DEGRADED = "Healthy", "Progressing", "Degraded"
IN_FLUX = {"Current": HEALTHY, "InProgress": PROGRESSING, "Failed": DEGRADED}
Health = Callable[[Manifest], str]


def in_argo_cd(manifest: Manifest) -> str:
    """As Argo CD runs it: Lua 5.1 with the basic functions, and neither strings, files nor the system."""
    key = f"resource.customizations.health.compute.firebolt.io_{manifest['kind']}"
    script = yaml.load(ARGO_CD.read_text(), yaml.CSafeLoader)["data"][key]
    runtime = lua51.LuaRuntime(unpack_returned_tuples=True)
    for library in ("string", "io", "os", "math", "debug", "python"):
        runtime.globals()[library] = None
    runtime.globals()["obj"] = runtime.table_from(manifest, recursive=True)
    found: Any = runtime.execute(script)
    assert found["message"]
    return str(found["status"])


def in_flux(manifest: Manifest) -> str:
    """In the order in which Flux asks: the generation, `inProgress`, `failed`, `current`; else it waits."""
    checks = yaml.load(FLUX.read_text(), yaml.CSafeLoader)["spec"]["healthCheckExprs"]
    (check,) = (each for each in checks if each["kind"] == manifest["kind"])
    assert check["apiVersion"] == "compute.firebolt.io/v1alpha1"
    observed = manifest["status"].get("observedGeneration")
    if observed is not None and observed != manifest["metadata"]["generation"]:
        return PROGRESSING
    for key, name in (("inProgress", "InProgress"), ("failed", "Failed"), ("current", "Current")):
        answer = cel.evaluate(check[key], {"status": manifest["status"], "metadata": manifest["metadata"]})
        assert isinstance(answer, bool), answer
        if answer:
            return IN_FLUX[name]
    return PROGRESSING


TOOLS = pytest.mark.parametrize("health", [in_argo_cd, in_flux], ids=["argo-cd", "flux"])


def manifest_of(kind: str, model: Model, **metadata: Any) -> Manifest:
    body: Manifest = msgspec.to_builtins(model)
    return {"kind": kind, "metadata": {"generation": 3, **metadata}, "status": body["status"]}


def engine_with(found: Findings) -> Manifest:
    engine = an_engine()
    status = msgspec.structs.replace(
        with_findings(a_status(), found, spec_generation=3, now=NOON), observed_generation=3
    )
    return manifest_of("FireboltEngine", FireboltEngine(metadata=engine.metadata, status=status))


def expected_of(reason: str) -> str:
    told = kstatus.ENGINE_REASONS.progress(reason, "")
    return DEGRADED if isinstance(told, kstatus.Stalled) else PROGRESSING if told else HEALTHY


@TOOLS
@pytest.mark.parametrize("reason", [*EngineReason, "FailedCreate"])
def test_every_reason_of_an_engine(health: Health, reason: str) -> None:
    verdict = Verdict("True" if reason == EngineReason.ENGINE_READY else "False", reason, "words")
    assert health(engine_with(Findings(ready=verdict, is_at_rest=True))) == expected_of(reason)


def test_a_parked_engine_is_healthy_and_a_stalled_one_is_not() -> None:
    assert [expected_of(reason) for reason in ("Stopped", "EngineReady", "EngineClassMissing", "Rolling")] == [
        HEALTHY, HEALTHY, DEGRADED, PROGRESSING,
    ]  # fmt: skip


SERVES = Verdict("True", EngineReason.ENGINE_READY, "it serves")


@TOOLS
def test_an_engine_that_serves_and_waits_for_a_person_is_degraded(health: Health) -> None:
    mistake = kstatus.Stalled(EngineReason.SPEC_INVALID, "spec.drainTimeout: mend it")
    assert health(engine_with(Findings(ready=SERVES, to_mend=mistake, is_at_rest=True))) == DEGRADED


@TOOLS
def test_an_engine_that_serves_and_was_not_compared_with_its_spec_is_on_its_way(health: Health) -> None:
    assert health(engine_with(Findings(ready=SERVES))) == PROGRESSING


@TOOLS
def test_a_status_that_speaks_of_an_earlier_spec_counts_for_nothing(health: Health) -> None:
    served = engine_with(Findings(ready=SERVES, is_at_rest=True))
    assert health(served) == HEALTHY
    assert health({**served, "metadata": {"generation": 4}}) == PROGRESSING
    assert health({**served, "status": {"phase": "creating"}}) == PROGRESSING
    assert health({**served, "status": {"observedGeneration": 3}}) == PROGRESSING


def test_argo_cd_waits_where_there_is_no_status_at_all() -> None:
    assert in_argo_cd({"kind": "FireboltEngine", "metadata": {"generation": 1}}) == PROGRESSING


def class_status(spec: EngineClassSpec, *, deleting: bool = False) -> EngineClassStatus:
    metadata = ObjectMeta(name="c", namespace="ns", generation=3, deletion_timestamp=NOON if deleting else None)
    return decide_status(
        FireboltEngineClass(metadata=metadata, spec=spec), 1, bounds=ResourceBounds(), now=NOON + timedelta(days=1)
    )


@TOOLS
@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(class_status(EngineClassSpec(template={})), HEALTHY, id="admissible"),
        pytest.param(
            class_status(EngineClassSpec(template={"spec": {"enableServiceLinks": True}})), DEGRADED, id="owned-field"
        ),
        pytest.param(class_status(EngineClassSpec(template={}, drain_timeout="x")), DEGRADED, id="mistake"),
        pytest.param(class_status(EngineClassSpec(template={}), deleting=True), PROGRESSING, id="still-needed"),
    ],
)
def test_classes(health: Health, status: EngineClassStatus, expected: str) -> None:
    given = FireboltEngineClass(metadata=ObjectMeta(), status=status)
    assert health(manifest_of("FireboltEngineClass", given)) == expected


@TOOLS
@pytest.mark.parametrize(
    ("situation", "expected"),
    [
        pytest.param(instances.a_situation(), HEALTHY, id="ready"),
        pytest.param(
            instances.a_situation(facts=instances.some_facts(gateway=Readiness(is_ready=False))),
            PROGRESSING,
            id="on-its-way",
        ),
    ],
)
def test_instances(health: Health, situation: Any, expected: str) -> None:
    status = decide_instance(situation).status
    given = FireboltInstance(metadata=ObjectMeta(), spec=situation.instance.spec, status=status)
    generation = situation.instance.metadata.generation
    assert health(manifest_of("FireboltInstance", given, generation=generation)) == expected


@TOOLS
def test_an_instance_that_only_a_person_can_help_is_degraded(health: Health) -> None:
    lost = {
        "type": "Stalled",
        "status": "True",
        "reason": InstanceReason.POSTGRES_CREDENTIALS_LOST,
        "message": "restore",
    }
    ready = {**lost, "type": "Ready", "status": "False"}
    status = {"observedGeneration": 3, "phase": "Failed", "conditions": [ready, lost]}
    assert health({"kind": "FireboltInstance", "metadata": {"generation": 3}, "status": status}) == DEGRADED


@pytest.mark.parametrize(("path", "text"), [(ARGO_CD, argo_cd()), (FLUX, flux())], ids=["argo-cd", "flux"])
def test_the_files_are_the_made_ones(path: Path, text: str) -> None:
    assert path.read_text() == text, "run make gitops"
