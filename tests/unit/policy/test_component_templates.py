"""Operator-owned fields of the gateway's and the metadata service's templates."""

from typing import Any

import pytest

from firebolt_operator.policy.field_errors import FieldError, aggregate
from firebolt_operator.policy.instance_checks import check_gateway_template, check_metadata_template
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_mount, a_template, an_instance_spec, paths

GATEWAY_SECRET_VOLUMES = ["engine-ca", "tls-gateway", "client-ca", "engine-crl", "client-crl", "wake-agent-token"]
GATEWAY_VOLUMES = ["config-volume", "tmp", *GATEWAY_SECRET_VOLUMES]
METADATA_VOLUMES = ["config", "tmp", "postgres-creds"]


def on_gateway(template: Manifest) -> list[FieldError]:
    return check_gateway_template(an_instance_spec(gateway={"template": template}))


def on_metadata(template: Manifest) -> list[FieldError]:
    return check_metadata_template(an_instance_spec(metadata={"template": template}))


CHECKS = {"gateway": on_gateway, "metadata": on_metadata}
PRIMARY = {"gateway": "envoy", "metadata": "metadata"}
BOTH = pytest.mark.parametrize("component", ["gateway", "metadata"])

PRIMARY_CASES: list[tuple[str, Any]] = [
    ("command", ["x"]),
    ("args", ["x"]),
    ("ports", [{"containerPort": 1}]),
    ("readinessProbe", {}),
    ("livenessProbe", {}),
    ("startupProbe", {}),
    ("restartPolicy", "Always"),
    ("restartPolicyRules", [{"action": "Restart"}]),
    ("stdin", True),
    ("stdinOnce", True),
    ("tty", True),
    ("securityContext", {}),
    ("lifecycle", {}),
    ("env", [{"name": "FOO", "value": "bar"}]),
    ("envFrom", [{"configMapRef": {"name": "x"}}]),
    ("volumeMounts", [{"name": "mine", "mountPath": "/x"}]),
    ("workingDir", "/x"),
    ("terminationMessagePath", "/x"),
    ("terminationMessagePolicy", "File"),
    ("volumeDevices", [{"name": "x", "devicePath": "/dev/x"}]),
    ("resizePolicy", [{"resourceName": "cpu", "restartPolicy": "NotRequired"}]),
]
POD_CASES: list[tuple[str, Any]] = [
    ("terminationGracePeriodSeconds", 30),
    ("subdomain", "x"),
    ("hostname", "x"),
    ("restartPolicy", "Always"),
    ("activeDeadlineSeconds", 0),
    ("hostNetwork", True),
    ("hostPID", True),
    ("hostIPC", True),
    ("shareProcessNamespace", False),
    ("hostUsers", False),
    ("enableServiceLinks", True),
    ("serviceAccount", "x"),
    ("automountServiceAccountToken", False),
]


@BOTH
@pytest.mark.parametrize(("field", "value"), PRIMARY_CASES)
def test_the_primary_container_takes_only_image_pull_policy_and_resources(
    component: str, field: str, value: object
) -> None:
    template = a_template(a_container(PRIMARY[component], **{field: value}))
    assert paths(CHECKS[component](template)) == [f"spec.{component}.template.spec.containers[0].{field}"]


@BOTH
def test_primary_container_errors_come_in_a_fixed_order(component: str) -> None:
    template = a_template(a_container(PRIMARY[component], **dict(reversed(PRIMARY_CASES))))
    expected = [f"spec.{component}.template.spec.containers[0].{field}" for field, _ in PRIMARY_CASES]
    assert paths(CHECKS[component](template)) == expected


@BOTH
@pytest.mark.parametrize(("field", "value"), POD_CASES)
def test_pod_fields_that_the_builder_stamps_are_refused(component: str, field: str, value: Any) -> None:
    assert paths(CHECKS[component](a_template(**{field: value}))) == [f"spec.{component}.template.spec.{field}"]


@BOTH
def test_reserved_keys_are_refused_one_by_one_sorted(component: str) -> None:
    keys = {"firebolt.io/generation": "1", "team": "data", "firebolt.io/config-hash": "x"}
    errors = CHECKS[component](a_template(metadata={"labels": keys, "annotations": {"firebolt.io/config-hash": "x"}}))
    base = f"spec.{component}.template.metadata"
    detail = 'keys with the "firebolt.io/" prefix are reserved for the operator'
    assert [str(error) for error in errors] == [
        f"{base}.labels[firebolt.io/config-hash]: Forbidden: {detail}",
        f"{base}.labels[firebolt.io/generation]: Forbidden: {detail}",
        f"{base}.annotations[firebolt.io/config-hash]: Forbidden: {detail}",
    ]


@BOTH
def test_a_second_primary_container_is_a_duplicate(component: str) -> None:
    name = PRIMARY[component]
    errors = CHECKS[component](a_template(a_container(name), a_container(name)))
    assert [str(error) for error in errors] == [
        f'spec.{component}.template.spec.containers[1].name: Duplicate value: "{name}"'
    ]


@BOTH
def test_an_init_container_may_not_take_the_primary_containers_name(component: str) -> None:
    template = a_template(initContainers=[a_container(PRIMARY[component])])
    assert paths(CHECKS[component](template)) == [f"spec.{component}.template.spec.initContainers[0].name"]


def test_the_wake_agents_name_is_reserved_on_the_gateway_only() -> None:
    template = a_template(a_container("wake-agent"), initContainers=[a_container("wake-agent")])
    detail = 'Forbidden: container name "wake-agent" is reserved by the gateway operator'
    assert [str(error) for error in on_gateway(template)] == [
        f"spec.gateway.template.spec.containers[0].name: {detail}",
        f"spec.gateway.template.spec.initContainers[0].name: {detail}",
    ]
    assert on_metadata(template) == []


@pytest.mark.parametrize(
    ("component", "volume"),
    [
        *(("gateway", volume) for volume in GATEWAY_SECRET_VOLUMES),
        ("gateway", "auth-signing-x"),
        ("metadata", "postgres-creds"),
        ("metadata", "auth-signing-x"),
    ],
)
def test_volumes_with_credentials_are_refused_to_sidecars_and_init_containers(component: str, volume: str) -> None:
    helper = a_container("helper", volumeMounts=[a_mount("mine"), a_mount(volume)])
    errors = CHECKS[component](a_template(helper, initContainers=[helper]))
    assert paths(errors) == [
        f"spec.{component}.template.spec.containers[0].volumeMounts[1].name",
        f"spec.{component}.template.spec.initContainers[0].volumeMounts[1].name",
    ]
    detail = f'volume "{volume}" is a Secret-backed operator-owned volume of the {component} component'
    assert {error.detail for error in errors} == {detail}


@pytest.mark.parametrize(
    ("component", "volume"),
    [("gateway", "config-volume"), ("gateway", "tmp"), ("metadata", "config"), ("metadata", "tmp")],
)
def test_volumes_without_credentials_may_be_mounted_by_sidecars_and_init_containers(
    component: str, volume: str
) -> None:
    helper = a_container("helper", volumeMounts=[a_mount(volume)])
    assert CHECKS[component](a_template(helper, initContainers=[helper])) == []


@pytest.mark.parametrize(
    ("component", "volume"),
    [
        *(("gateway", volume) for volume in GATEWAY_VOLUMES),
        *(("metadata", volume) for volume in METADATA_VOLUMES),
    ],
)
def test_a_volume_named_like_one_of_the_operators_is_refused(component: str, volume: str) -> None:
    errors = CHECKS[component](a_template(volumes=[{"name": volume, "emptyDir": {}}]))
    assert aggregate(errors) == (
        f'spec.{component}.template.spec.volumes[0].name: Forbidden: volume name "{volume}" is reserved by the'
        f" {component} operator; pick a different name"
    )


def test_each_component_reserves_its_own_volumes_only() -> None:
    assert on_metadata(a_template(volumes=[{"name": "tls-gateway"}, {"name": "data"}])) == []
    assert on_gateway(a_template(volumes=[{"name": "postgres-creds"}, {"name": "data"}])) == []


def test_whoever_brings_the_gateways_account_decides_about_its_token() -> None:
    assert on_gateway(a_template(serviceAccountName="mine", automountServiceAccountToken=True)) == []
    assert on_gateway(a_template(serviceAccountName="mine")) == []


def test_the_metadata_service_never_gets_a_token_whatever_its_account() -> None:
    errors = on_metadata(a_template(serviceAccountName="mine", automountServiceAccountToken=False))
    assert aggregate(errors) == (
        "spec.metadata.template.spec.automountServiceAccountToken: Forbidden:"
        " automountServiceAccountToken is operator-owned"
    )


@BOTH
def test_all_that_is_the_users_is_accepted(component: str) -> None:
    template = a_template(
        a_container(
            PRIMARY[component], image="example.com/x:1", imagePullPolicy="Always", resources={"limits": {"cpu": 1}}
        ),
        a_container("side", image="example.com/side:1", env=[{"name": "A"}], command=["x"]),
        metadata={"labels": {"team": "data"}, "annotations": {"owner": "sre"}},
        serviceAccountName="mine",
        nodeSelector={"pool": "x"},
        tolerations=[{"operator": "Exists"}],
        affinity={"nodeAffinity": {}},
        topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
        priorityClassName="high",
        securityContext={"fsGroup": 5},
        imagePullSecrets=[{"name": "pull"}],
        volumes=[{"name": "mine", "emptyDir": {}}],
        initContainers=[a_container("init", image="example.com/init:1")],
        dnsPolicy="Default",
        runtimeClassName="gvisor",
        nodeName="node-1",
    )
    assert CHECKS[component](template) == []


@BOTH
def test_no_template_is_fine(component: str) -> None:
    spec = an_instance_spec()
    check = check_gateway_template if component == "gateway" else check_metadata_template
    assert check(spec) == []
