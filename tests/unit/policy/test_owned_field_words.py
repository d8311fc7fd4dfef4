"""What does a person read who set a field of the operator's? Every field by name, for every component."""

from typing import Any

import pytest

from firebolt_operator.policy.component_rules import ENGINE, GATEWAY, METADATA, ComponentRules
from firebolt_operator.policy.field_errors import Path
from firebolt_operator.policy.owned_fields import check_owned_fields
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_template

RULES = pytest.mark.parametrize("rules", [ENGINE, GATEWAY, METADATA], ids=lambda rules: rules.component)
CLOSED = pytest.mark.parametrize("rules", [GATEWAY, METADATA], ids=lambda rules: rules.component)

BY_WORKLOAD = "has no effect: the workload controller sets it on each pod; remove it"
BY_SERVER = "has no effect: the API server sets it; remove it"
METADATA_WORDS = {
    "name": BY_WORKLOAD,
    "generateName": BY_WORKLOAD,
    "namespace": "has no effect: pods run in the namespace of their resource; remove it",
    "uid": BY_SERVER,
    "resourceVersion": BY_SERVER,
    "generation": BY_SERVER,
    "creationTimestamp": BY_SERVER,
    "deletionTimestamp": BY_SERVER,
    "deletionGracePeriodSeconds": BY_SERVER,
    "ownerReferences": BY_WORKLOAD,
    "finalizers": "has no effect: the operator sets none on its pods; remove it",
    "managedFields": BY_SERVER,
}
POD_WORDS = {
    "terminationGracePeriodSeconds": "is operator-owned",
    "subdomain": "is owned by the operator",
    "hostname": "is owned by the operator",
    "restartPolicy": "is fixed by the workload controller",
    "activeDeadlineSeconds": "is incompatible with long-lived component pods",
    "hostNetwork": "sharing is not permitted for component pods",
    "hostPID": "sharing is not permitted for component pods",
    "hostIPC": "sharing is not permitted for component pods",
    "shareProcessNamespace": "is not permitted for component pods",
    "hostUsers": "is not permitted for component pods",
    "enableServiceLinks": "is operator-owned",
    "serviceAccount": "is a deprecated alias; set serviceAccountName instead",
}
OWNED = ("is operator-owned", "command", "readinessProbe", "livenessProbe", "startupProbe")
OWNED_LISTS = ("are operator-owned", "args", "ports")
INTERACTIVE = ("is for interactive use only", "stdin", "stdinOnce", "tty")
CLOSED_ONLY = (
    "is operator-owned",
    "securityContext",
    "lifecycle",
    "env",
    "envFrom",
    "workingDir",
    "terminationMessagePath",
    "terminationMessagePolicy",
    "resizePolicy",
)
CLOSED_LISTS = ("are operator-owned", "volumeMounts", "volumeDevices")


def read(rules: ComponentRules, template: Manifest) -> dict[str, str]:
    """Each refused field's name, and why."""
    return {
        error.path.text.rpartition(".")[2]: error.detail
        for error in check_owned_fields(template, Path("template"), rules)
    }


def on_primary(rules: ComponentRules, fields: dict[str, Any]) -> dict[str, str]:
    return read(rules, a_template(a_container(rules.primary, **fields)))


def words(rules: ComponentRules, *groups: tuple[str, ...]) -> dict[str, str]:
    return {name: f"{rules.component} container {name} {verb}" for verb, *fields in groups for name in fields}


@RULES
def test_pod_metadata(rules: ComponentRules) -> None:
    found = read(rules, a_template(metadata=dict.fromkeys(METADATA_WORDS, "x")))
    assert found == {name: f"pod template metadata.{name} {why}" for name, why in METADATA_WORDS.items()}


@RULES
def test_pod_fields(rules: ComponentRules) -> None:
    found = read(rules, {"spec": dict.fromkeys(POD_WORDS, "x")})
    assert found == {name: f"{name} {why}" for name, why in POD_WORDS.items()}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param(ENGINE, [], id="engine"),
        pytest.param(
            GATEWAY,
            ["automountServiceAccountToken is operator-owned unless serviceAccountName is set"],
            id="gateway",
        ),
        pytest.param(METADATA, ["automountServiceAccountToken is operator-owned"], id="metadata"),
    ],
)
def test_the_token(rules: ComponentRules, expected: list[str]) -> None:
    assert list(read(rules, a_template(automountServiceAccountToken=True)).values()) == expected


@RULES
def test_the_primary_container(rules: ComponentRules) -> None:
    expected = {
        **words(rules, OWNED, OWNED_LISTS, INTERACTIVE),
        "restartPolicy": "restartPolicy has no effect on a long-lived workload container",
        "restartPolicyRules": "restartPolicyRules have no effect on a long-lived workload container",
    }
    assert on_primary(rules, dict.fromkeys(expected, "x")) == expected


@CLOSED
def test_a_primary_container_that_is_the_operators_own(rules: ComponentRules) -> None:
    expected = words(rules, CLOSED_ONLY, CLOSED_LISTS)
    assert on_primary(rules, dict.fromkeys(expected, "x")) == expected


NULLABLE_METADATA = {"deletionTimestamp": "", "deletionGracePeriodSeconds": 0}
NULLABLE_POD: dict[str, Any] = {
    "terminationGracePeriodSeconds": 0,
    "activeDeadlineSeconds": 0,
    "shareProcessNamespace": False,
    "hostUsers": False,
    "enableServiceLinks": False,
}
NULLABLE_PRIMARY: dict[str, Any] = {"readinessProbe": {}, "livenessProbe": {}, "startupProbe": {}, "restartPolicy": ""}
NULLABLE_CLOSED: dict[str, Any] = {"securityContext": {}, "lifecycle": {}}


@RULES
def test_a_field_that_means_something_when_it_is_empty_counts_as_set(rules: ComponentRules) -> None:
    """Every other field of the operator's does not: tools leave empty ones behind."""
    empty = {**dict.fromkeys(METADATA_WORDS, ""), **NULLABLE_METADATA}
    assert read(rules, a_template(metadata=empty)).keys() == NULLABLE_METADATA.keys()
    assert read(rules, {"spec": {**dict.fromkeys(POD_WORDS, ""), **NULLABLE_POD}}).keys() == NULLABLE_POD.keys()
    fields = words(rules, OWNED, OWNED_LISTS, INTERACTIVE).keys() - NULLABLE_PRIMARY.keys() | {"restartPolicyRules"}
    assert on_primary(rules, {**dict.fromkeys(fields, ""), **NULLABLE_PRIMARY}).keys() == NULLABLE_PRIMARY.keys()


@CLOSED
def test_so_does_one_of_a_container_that_is_the_operators_own(rules: ComponentRules) -> None:
    empty = {**dict.fromkeys(words(rules, CLOSED_ONLY, CLOSED_LISTS), ""), **NULLABLE_CLOSED}
    assert on_primary(rules, empty).keys() == NULLABLE_CLOSED.keys()
    assert read(rules, a_template(automountServiceAccountToken=False)).keys() == {"automountServiceAccountToken"}
