"""Classes: owned fields, and settings that engines would inherit."""

from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission import templates
from tests.support.admission.case import Case, Condition, Goes, Without, forbidden, invalid
from tests.support.admission.templates import container, mounting, pod
from tests.support.deep import indented_at_length

OWNED: Final = Condition(type="Ready", reason="OperatorOwnedFieldSet")
PODS: Final = "spec.template.spec"
BASELINE: Final[Manifest] = {
    "metadata": {"labels": {"team": "data"}, "annotations": {"owner": "sre"}},
    "spec": {
        "serviceAccountName": "mine",
        "nodeSelector": {"disk": "fast"},
        "tolerations": [{"operator": "Exists"}],
        "containers": [container("engine"), container("log-shipper", command=["ship"])],
        "initContainers": [container("warmup")],
    },
}


def accepted(name: str, template: Manifest, warns: tuple[str, ...] = (), **fields: Any) -> Case:
    return Case(id=name, kind="FireboltEngineClass", spec={"template": template, **fields}, warns=warns)


def refused(name: str, errors: tuple[str, ...], template: Manifest, without: Without = OWNED, **fields: Any) -> Case:
    spec = {"template": template, **fields}
    return Case(id=name, kind="FireboltEngineClass", spec=spec, refused=errors, without=without)


def _edited(case: Case) -> Case:
    return Case(
        id=f"{case.id}, by an edit",
        kind=case.kind,
        spec=case.spec,
        before={"template": BASELINE},
        refused=case.refused,
        without=case.without,
    )


_MANY: Final = refused(
    "every field of the template's metadata",
    (
        *forbidden(*templates.paths("spec.template.metadata", templates.METADATA_FIELDS)),
        *forbidden(
            "spec.template.metadata.odd",
            "spec.template.metadata.labels[firebolt.io/config-hash]",
            "spec.template.metadata.labels[firebolt.io/engine]",
            "spec.template.metadata.annotations[firebolt.io/generation]",
        ),
    ),
    {
        "metadata": {
            **templates.METADATA_FIELDS,
            "odd": "x",
            "labels": {"team": "data", "firebolt.io/engine": "x", "firebolt.io/config-hash": "x"},
            "annotations": {"firebolt.io/generation": "1"},
        }
    },
)
_MOUNTED_BY_ANYBODY: Final = ("engine-config", "data", "runtime")
_SECRET_VOLUMES: Final = ("auth-admin", "auth-signing-signing-1", "tls-engine")
TEMPLATE_ROWS: Final = (
    accepted("a class as people write them", BASELINE),
    Case(id="an edit", kind="FireboltEngineClass", spec={"template": {}}, before={"template": BASELINE}),
    Case(id="no template", kind="FireboltEngineClass", spec={}, schema="spec.template"),
    accepted("only an account", pod(serviceAccountName="mine")),
    _MANY,
    _edited(_MANY),
    accepted(
        "keys that only look reserved",
        {
            "metadata": {
                "labels": {"compute.firebolt.io/x": "1", "firebolt.io": "1"},
                "annotations": {"x.firebolt.io/generation": "1"},
                "creationTimestamp": None,
            }
        },
    ),
    refused(
        "every pod field",
        forbidden(*templates.paths(PODS, templates.POD_FIELDS)),
        pod(**templates.POD_FIELDS),
    ),
    accepted(
        "what only looks set",
        pod(**templates.UNSET_POD_FIELDS, containers=[container("engine", **templates.UNSET_PRIMARY_FIELDS)]),
    ),
    refused(
        "every field of the container",
        forbidden(*templates.paths(f"{PODS}.containers[1]", templates.PRIMARY_FIELDS)),
        pod(containers=[container("side"), container("engine", **templates.PRIMARY_FIELDS)]),
    ),
    Case(
        id="a huge template",
        kind="FireboltEngineClass",
        spec={"template": templates.LARGE},
        refused=forbidden(PODS),
        without=OWNED,
        is_heavy=True,
    ),
    Case(
        id="a configuration that becomes too long",
        kind="FireboltEngineClass",
        spec={"template": {}, "customEngineConfig": indented_at_length()},
        refused=forbidden("spec.customEngineConfig"),
        without=OWNED,
        is_heavy=True,
    ),
    refused(
        "reserved environment variables",
        forbidden(f"{PODS}.containers[0].env[1].name", f"{PODS}.containers[0].env[2].name"),
        pod(
            containers=[
                container(
                    "engine",
                    env=[
                        {"name": name, "value": "1"}
                        for name in ("MINE", "POD_INDEX", "FB_AWS_EC2_METADATA_CLIENT_ENABLED")
                    ],
                )
            ]
        ),
    ),
    Case(
        id="two engine containers",
        kind="FireboltEngineClass",
        spec={"template": pod(containers=[container("engine"), container("side"), container("engine")])},
        schema="spec.template.spec.containers[2]",
    ),
    refused(
        "names of our containers",
        forbidden(f"{PODS}.containers[0].name", f"{PODS}.initContainers[0].name", f"{PODS}.initContainers[1].name"),
        pod(
            containers=[container("engine-web")],
            initContainers=[container("engine"), container("engine-web")],
        ),
    ),
    refused(
        "names of our volumes",
        forbidden(*(f"{PODS}.volumes[{index}].name" for index in (0, 1, 3))),
        pod(volumes=[{"name": name, "emptyDir": {}} for name in ("data", "nginx-writable-dir", "mine", "tls-engine")]),
    ),
    refused(
        "Secret-backed volumes of ours",
        forbidden(
            *(f"{PODS}.containers[{index}].volumeMounts[0].name" for index in range(len(_SECRET_VOLUMES))),
            f"{PODS}.initContainers[0].volumeMounts[0].name",
        ),
        pod(
            containers=[mounting(f"side{index}", name) for index, name in enumerate(_SECRET_VOLUMES)],
            initContainers=[mounting("first", "auth-admin")],
        ),
    ),
    accepted(
        "other volumes of ours",
        pod(
            containers=[mounting(f"side{index}", name) for index, name in enumerate(_MOUNTED_BY_ANYBODY)],
            initContainers=[mounting(f"first{index}", name) for index, name in enumerate(_MOUNTED_BY_ANYBODY)],
        ),
    ),
    refused(
        "our volume in the engine's container",
        forbidden(f"{PODS}.containers[0].volumeMounts[0].name"),
        pod(containers=[mounting("engine", "data")]),
    ),
    accepted(
        "an init container that hands over the data",
        pod(
            initContainers=[
                container(
                    "chown",
                    command=["chown"],
                    securityContext={"runAsUser": 0},
                    volumeMounts=[{"name": "data", "mountPath": "/var/lib/firebolt"}],
                )
            ]
        ),
    ),
    accepted(
        "a sidecar does as it likes",
        pod(
            containers=[
                container(
                    "side",
                    command=["x"],
                    ports=[{"containerPort": 8080}],
                    readinessProbe={"tcpSocket": {"port": 8080}},
                    volumeMounts=[{"name": "mine", "mountPath": "/mine"}],
                )
            ],
            volumes=[{"name": "mine", "emptyDir": {}}],
        ),
    ),
    accepted(
        "what an engine's container leaves open",
        pod(
            containers=[container("engine", **templates.CLOSED_FIELDS)],
            volumes=[{"name": "mine", "emptyDir": {}}],
        ),
    ),
)
SETTING_ROWS: Final = (
    refused(
        "no durations at all",
        invalid("spec.drainTimeout", "spec.autoStop.pollInterval"),
        {},
        Condition(
            type="Stalled",
            reason="SpecInvalid",
            status="True",
            names=("spec.drainTimeout", "spec.autoStop.pollInterval"),
        ),
        drainTimeout="soon",
        autoStop={"activeReplicas": 1, "pollInterval": "often"},
    ),
    refused(
        "too short to be polled",
        invalid("spec.drainCheckInterval"),
        {},
        Goes("engines count it as one second"),
        drainCheckInterval="1ms",
    ),
    accepted(
        "no such time zone",
        {},
        ('spec.autoStop.timeZone: "Nowhere" is no time zone',),
        autoStop={"activeReplicas": 1, "timeZone": "Nowhere"},
    ),
    accepted(
        "an image without a tag",
        pod(containers=[{"name": "engine", "image": "engine"}]),
        ('spec.template.spec.containers[0].image: "engine" has no tag',),
    ),
)
ROWS: Final = (*TEMPLATE_ROWS, *SETTING_ROWS)
