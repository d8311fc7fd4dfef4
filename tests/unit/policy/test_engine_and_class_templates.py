"""Operator-owned fields of engine and class templates: one rule set, so both kinds are held against each case."""

from collections.abc import Callable
from typing import Any

import pytest

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.policy.class_checks import check_class_template
from firebolt_operator.policy.engine_checks import check_engine_template
from firebolt_operator.policy.field_errors import FieldError
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_mount, a_template, an_engine_spec, paths

Check = Callable[[Manifest], list[FieldError]]


def on_class(template: Manifest) -> list[FieldError]:
    return check_class_template(EngineClassSpec(template=template))


def on_engine(template: Manifest) -> list[FieldError]:
    return check_engine_template(an_engine_spec(template), (), frozenset())


@pytest.fixture(params=[on_class, on_engine], ids=["class", "engine"])
def check(request: pytest.FixtureRequest) -> Check:
    found: Check = request.param
    return found


BASELINE = a_template(
    a_container("engine", image="example.com/engine:1"),
    a_container("log-shipper", image="example.com/shipper:1", command=["ship"]),
    metadata={"labels": {"team": "data"}, "annotations": {"owner": "sre"}},
    serviceAccountName="engines",
    nodeSelector={"pool": "engines"},
    tolerations=[{"key": "engines", "operator": "Exists"}],
    initContainers=[a_container("warmup", image="example.com/warmup:1")],
)
ENGINE_ONLY: Manifest = {
    "lifecycle": {"preStop": {"sleep": {"seconds": 1}}},
    "securityContext": {"runAsUser": 7},
    "envFrom": [{"configMapRef": {"name": "settings"}}],
    "workingDir": "/work",
    "volumeDevices": [{"name": "block", "devicePath": "/dev/x"}],
    "resizePolicy": [{"resourceName": "cpu", "restartPolicy": "NotRequired"}],
    "terminationMessagePath": "/dev/x",
    "terminationMessagePolicy": "File",
    "imagePullPolicy": "Always",
    "resources": {"limits": {"cpu": "2"}},
}
PASSED_THROUGH: Manifest = {
    "affinity": {},
    "automountServiceAccountToken": False,
    "dnsPolicy": "Default",
    "ephemeralContainers": [{"name": "engine"}],
    "hostnameOverride": "x",
    "nodeName": "node-1",
    "priority": 5,
    "resources": {"limits": {"cpu": "2"}},
    "schedulingGates": [{"name": "x"}],
    "schedulingGroup": {},
    "setHostnameAsFQDN": True,
    "securityContext": {"runAsUser": 7},
}


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(BASELINE, id="the-baseline"),
        pytest.param({}, id="an-empty-template"),
        pytest.param({"metadata": None, "spec": None}, id="nulls-are-empty"),
        pytest.param({"metadata": {"labels": None}, "spec": {"containers": None}}, id="inner-nulls-are-empty"),
        pytest.param({"spec": {"serviceAccountName": "x"}}, id="no-containers-at-all"),
        pytest.param(a_template(a_container("engine", **ENGINE_ONLY)), id="what-only-the-engine-container-may-set"),
        pytest.param(a_template(**PASSED_THROUGH), id="pod-fields-that-pass-through"),
        pytest.param(
            a_template(a_container("engine", env=[{"name": "DATABASE_URL", "value": "x"}])),
            id="an-env-key-of-the-users-own",
        ),
        pytest.param(
            a_template(a_container("side", env=[{"name": "POD_INDEX", "value": "0"}])),
            id="a-sidecar-may-use-a-key-that-is-reserved-on-the-engine",
        ),
        pytest.param(
            a_template(
                a_container("side", volumeMounts=[a_mount(name) for name in ("engine-config", "data", "runtime")]),
                initContainers=[
                    a_container("init", volumeMounts=[a_mount(name) for name in ("engine-config", "data", "runtime")])
                ],
            ),
            id="sidecars-and-init-containers-mount-volumes-without-credentials",
        ),
        pytest.param(
            a_template(
                initContainers=[
                    a_container(
                        "chown",
                        securityContext={"runAsUser": 0},
                        command=["chown", "-R", "3473", "/var/lib/firebolt"],
                        volumeMounts=[{"name": "data", "mountPath": "/var/lib/firebolt"}],
                    )
                ]
            ),
            id="a-root-init-container-chowns-the-data-directory",
        ),
        pytest.param(
            a_template(
                a_container(
                    "side",
                    command=["x"],
                    args=["y"],
                    ports=[{"containerPort": 1}],
                    readinessProbe={"exec": {"command": ["x"]}},
                    volumeMounts=[a_mount("mine")],
                    stdin=True,
                    restartPolicy="Always",
                ),
                volumes=[{"name": "mine", "emptyDir": {}}],
            ),
            id="a-sidecar-is-the-users-own",
        ),
        pytest.param(
            a_template(metadata={"labels": {"compute.firebolt.io/x": "1", "firebolt.io": "1"}}),
            id="only-the-exact-prefix-is-reserved",
        ),
        pytest.param(
            a_template(a_container("engine", volumeMounts=[{"name": "mine", "mountPath": "/var/lib/firebolt"}])),
            id="mount-paths-are-not-judged",
        ),
    ],
)
def test_accepted(check: Check, template: Manifest) -> None:
    assert check(template) == []


POD_CASES: list[tuple[str, Any]] = [
    ("terminationGracePeriodSeconds", 0),
    ("subdomain", "x"),
    ("hostname", "x"),
    ("restartPolicy", "Always"),
    ("activeDeadlineSeconds", 1),
    ("hostNetwork", True),
    ("hostPID", True),
    ("hostIPC", True),
    ("shareProcessNamespace", False),
    ("hostUsers", True),
    ("hostUsers", False),
    ("enableServiceLinks", False),
    ("serviceAccount", "x"),
]
CONTAINER_CASES: list[tuple[str, Any]] = [
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
]
METADATA_CASES: list[tuple[str, Any]] = [
    ("name", "x"),
    ("generateName", "x-"),
    ("namespace", "x"),
    ("uid", "x"),
    ("resourceVersion", "1"),
    ("generation", 1),
    ("creationTimestamp", "2026-01-01T00:00:00Z"),
    ("deletionTimestamp", "2026-01-01T00:00:00Z"),
    ("deletionGracePeriodSeconds", 0),
    ("ownerReferences", [{"name": "x"}]),
    ("finalizers", ["x"]),
    ("managedFields", [{"manager": "x"}]),
    ("selfLink", "/x"),
]


@pytest.mark.parametrize(("field", "value"), POD_CASES)
def test_pod_fields_of_the_operator_are_refused(check: Check, field: str, value: Any) -> None:
    assert paths(check(a_template(**{field: value}))) == [f"spec.template.spec.{field}"]


@pytest.mark.parametrize(("field", "value"), CONTAINER_CASES)
def test_engine_container_fields_of_the_operator_are_refused(check: Check, field: str, value: object) -> None:
    template = a_template(a_container("side"), a_container("engine", **{field: value}))
    assert paths(check(template)) == [f"spec.template.spec.containers[1].{field}"]


@pytest.mark.parametrize(("field", "value"), METADATA_CASES)
def test_pod_metadata_without_effect_is_refused(check: Check, field: str, value: object) -> None:
    (error,) = check(a_template(metadata={field: value}))
    assert error.path.text == f"spec.template.metadata.{field}"
    assert f"pod template metadata.{field}" in error.detail
    assert error.detail.endswith("remove it")


@pytest.mark.parametrize(
    "template",
    [
        pytest.param(a_template(hostNetwork=False, hostPID=False, hostIPC=False), id="host-flags-that-are-false"),
        pytest.param(a_template(subdomain="", hostname="", restartPolicy="", serviceAccount=""), id="empty-strings"),
        pytest.param(a_template(terminationGracePeriodSeconds=None, hostUsers=None), id="nulls"),
        pytest.param(
            a_template(a_container("engine", command=[], ports=None, stdin=False, readinessProbe=None)),
            id="container-fields-that-are-empty-false-or-null",
        ),
        pytest.param(
            a_template(metadata={"creationTimestamp": None, "name": "", "ownerReferences": [], "generation": 0}),
            id="metadata-as-tools-leave-it-behind",
        ),
    ],
)
def test_what_does_not_count_as_set_is_accepted(check: Check, template: Manifest) -> None:
    assert check(template) == []


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        pytest.param(
            a_template(a_container("engine", env=[{"name": "POD_INDEX"}])),
            'spec.template.spec.containers[0].env[0].name: Forbidden: env key "POD_INDEX" is injected by the operator;'
            " pick a different name",
            id="env-that-would-forge-a-nodes-identity",
        ),
        pytest.param(
            a_template(a_container("engine", env=[{"name": "A"}, {"name": "FB_AWS_EC2_METADATA_CLIENT_ENABLED"}])),
            "spec.template.spec.containers[0].env[1].name: Forbidden: env key"
            ' "FB_AWS_EC2_METADATA_CLIENT_ENABLED" is injected by the operator; pick a different name',
            id="env-that-would-turn-the-metadata-client-off",
        ),
        pytest.param(
            a_template(a_container("engine", volumeMounts=[a_mount("data")])),
            'spec.template.spec.containers[0].volumeMounts[0].name: Forbidden: volumeMount name "data" is'
            " operator-owned; pick a different name",
            id="the-engine-container-mounts-data",
        ),
        pytest.param(
            a_template(a_container("engine"), a_container("side"), a_container("engine", command=["x"])),
            'spec.template.spec.containers[2].name: Duplicate value: "engine"',
            id="a-second-engine-container-gets-no-further-checks",
        ),
        pytest.param(
            a_template(a_container("engine-web", volumeMounts=[a_mount("auth-admin")])),
            'spec.template.spec.containers[0].name: Forbidden: container name "engine-web" is reserved by the engine'
            " operator",
            id="the-ui-containers-name-is-reserved",
        ),
        pytest.param(
            a_template(initContainers=[a_container("engine-web")]),
            'spec.template.spec.initContainers[0].name: Forbidden: container name "engine-web" is reserved by the'
            " engine operator",
            id="the-ui-containers-name-is-reserved-for-init-containers-too",
        ),
        pytest.param(
            a_template(initContainers=[a_container("engine")]),
            'spec.template.spec.initContainers[0].name: Forbidden: init container name "engine" collides with the'
            " engine container; pick a different name",
            id="an-init-container-named-engine",
        ),
        pytest.param(
            a_template(volumes=[{"name": "mine"}, {"name": "data", "emptyDir": {}}]),
            'spec.template.spec.volumes[1].name: Forbidden: volume name "data" is reserved by the engine operator;'
            " pick a different name",
            id="a-volume-named-like-one-of-the-operators",
        ),
        pytest.param(
            a_template(a_container("engine", command=["x"])),
            "spec.template.spec.containers[0].command: Forbidden: engine container command is operator-owned",
            id="the-engine-containers-command",
        ),
        pytest.param(
            a_template(hostNetwork=True),
            "spec.template.spec.hostNetwork: Forbidden: hostNetwork sharing is not permitted for component pods",
            id="the-host-network",
        ),
    ],
)
def test_wording(check: Check, template: Manifest, expected: str) -> None:
    assert [str(error) for error in check(template)] == [expected]


@pytest.mark.parametrize(
    "volume", ["engine-config", "data", "runtime", "nginx-writable-dir", "auth-admin", "tls-engine", "auth-signing-k1"]
)
def test_operator_volumes_are_neither_redefined_nor_mounted_by_the_engine_container(check: Check, volume: str) -> None:
    template = a_template(a_container("engine", volumeMounts=[a_mount(volume)]), volumes=[{"name": volume}])
    assert paths(check(template)) == [
        "spec.template.spec.volumes[0].name",
        "spec.template.spec.containers[0].volumeMounts[0].name",
    ]


@pytest.mark.parametrize("volume", ["auth-admin", "tls-engine", "auth-signing-signing-1"])
def test_volumes_with_credentials_are_refused_to_sidecars_and_init_containers(check: Check, volume: str) -> None:
    mounting: Manifest = {"volumeMounts": [a_mount(volume)]}
    errors = check(a_template(a_container("side", **mounting), initContainers=[a_container("engine-web", **mounting)]))
    assert paths(errors) == [
        "spec.template.spec.containers[0].volumeMounts[0].name",
        "spec.template.spec.initContainers[0].name",
        "spec.template.spec.initContainers[0].volumeMounts[0].name",
    ]
    detail = f'volume "{volume}" is a Secret-backed operator-owned volume of the engine component'
    assert errors[0].detail == errors[2].detail == detail


def test_reserved_keys_are_reported_sorted_labels_before_annotations(check: Check) -> None:
    keys = {"firebolt.io/z": "1", "team": "data", "firebolt.io/a": "1"}
    errors = check(a_template(metadata={"annotations": keys, "labels": keys}))
    assert paths(errors) == [
        f"spec.template.metadata.{field}[firebolt.io/{key}]" for field in ("labels", "annotations") for key in "az"
    ]
    assert {error.detail for error in errors} == {
        'keys with the "firebolt.io/" prefix are reserved for the operator',
    }


def test_the_walk_goes_from_metadata_to_init_containers_in_a_fixed_order(check: Check) -> None:
    """Everything at once, written backwards: the order of the errors is the walk's, not the document's."""
    engine = a_container(
        "engine",
        volumeMounts=[a_mount("runtime")],
        env=[{"name": "POD_INDEX"}],
        **dict(reversed(CONTAINER_CASES)),
    )
    template = a_template(
        engine,
        initContainers=[a_container("engine")],
        volumes=[{"name": "data"}],
        **dict(reversed(POD_CASES)),
        metadata={
            "annotations": {"firebolt.io/x": "1"},
            "labels": {"firebolt.io/x": "1"},
            "alpha": 1,
            **dict(reversed(METADATA_CASES)),
        },
    )
    pod = list(dict.fromkeys(field for field, _ in POD_CASES))
    expected = [
        *(f"metadata.{field}" for field, _ in METADATA_CASES[:-1]),
        "metadata.alpha",
        "metadata.selfLink",
        "metadata.labels[firebolt.io/x]",
        "metadata.annotations[firebolt.io/x]",
        *(f"spec.{field}" for field in pod),
        "spec.volumes[0].name",
        *(f"spec.containers[0].{field}" for field, _ in CONTAINER_CASES),
        "spec.containers[0].env[0].name",
        "spec.containers[0].volumeMounts[0].name",
        "spec.initContainers[0].name",
    ]
    assert paths(check(template)) == [f"spec.template.{path}" for path in expected]


def test_a_class_without_a_spec_is_admissible() -> None:
    assert check_class_template(None) == []
