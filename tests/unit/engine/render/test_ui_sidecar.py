"""The web UI beside an engine."""

import dataclasses

import pytest

from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import INSTANCE, engine_inputs, with_template


def names(spec: Manifest | None, of_class: Manifest | None = None) -> list[str]:
    pod = engine_statefulset(engine_inputs(spec, of_class), 0)["spec"]["template"]["spec"]
    return [each["name"] for each in pod["containers"]]


def test_given_no_wish_then_there_is_no_ui() -> None:
    assert names(None) == ["engine"]
    assert names({"uiSidecar": True}) == ["engine", "engine-web"]
    assert names(None, {"uiSidecar": True}) == ["engine", "engine-web"]
    assert names({"uiSidecar": False}, {"uiSidecar": True}) == ["engine"]


@pytest.mark.parametrize(
    ("own", "inherited", "policy"),
    [
        (None, None, "Always"),
        ({"imagePullPolicy": "Never"}, {"imagePullPolicy": "IfNotPresent"}, "Never"),
        ({"image": "e:dev"}, {"imagePullPolicy": "IfNotPresent"}, "IfNotPresent"),
    ],
)
def test_given_a_pull_policy_on_the_engine_then_the_ui_follows_it(
    own: Manifest | None, inherited: Manifest | None, policy: str
) -> None:
    spec = with_template(engine=own or {}) | {"uiSidecar": True}
    inputs = engine_inputs(spec, with_template(engine=inherited or {}))
    sidecar = engine_statefulset(inputs, 0)["spec"]["template"]["spec"]["containers"][-1]
    assert sidecar["imagePullPolicy"] == policy


def test_given_tls_on_the_engine_then_the_ui_speaks_it() -> None:
    instance = dataclasses.replace(INSTANCE, scheme="https")
    pod = engine_statefulset(engine_inputs({"uiSidecar": True}, instance=instance), 0)["spec"]["template"]["spec"]
    assert pod["containers"][-1]["env"] == [{"name": "FIREBOLT_CORE_URL", "value": "https://localhost:3473"}]
