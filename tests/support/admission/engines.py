"""Engines: classes, owned fields, Secrets, bounds and settings."""

from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission import templates
from tests.support.admission.case import Case, Condition, Dropped, Goes, Without, forbidden, invalid
from tests.support.admission.templates import container, pod
from tests.support.deep import indented_at_length

SIGNING_KEY: Final = "a-key"  # of the instance, by its status
LOGIN: Final = "db-login"  # of its database, by its spec
INSTANCE_SPEC: Final[Manifest] = {
    "id": "01JZ8E3F9V7Q0K2M4N6P8R0T2W",
    "metadata": {"postgres": {"host": "db", "database": "meta", "credentialsSecretRef": {"name": LOGIN}}},
    "gateway": {},
}
INSTANCE_STATUS: Final[Manifest] = {
    "phase": "Ready",
    "metadataEndpoint": "inst-metadata.ns.svc.cluster.local:7000",
    "auth": {"signingKeys": [{"id": "1", "secretName": SIGNING_KEY, "createdAt": "2026-01-01T00:00:00Z"}]},
}
CPU: Final = "spec.template.spec.containers[engine].resources.limits.cpu"


def resources(**fields: Any) -> Manifest:
    return pod(containers=[container("engine", resources=fields)])


CLASSES: Final[dict[str, Manifest]] = {
    "plain": {"template": {}},
    "costly": {"template": resources(limits={"cpu": "64"})},
    "stealing": {"template": pod(containers=[templates.reading("side", SIGNING_KEY)])},
    "showing": {"template": pod(volumes=[templates.secret_volume("v", SIGNING_KEY)])},
    "late": {"template": {}, "drainTimeout": "soon"},
    "lengthy": {"template": {}, "customEngineConfig": {"theirs": [0] * 100_000}},
}
"""Made before webhooks are there: what is wrong with them was not refused."""
CLUSTER_CLASSES: Final[dict[str, Manifest]] = {
    "everybodys": {"template": {}},
    "everybodys-costly": {"template": resources(limits={"cpu": "64"})},
    "plain": {"template": resources(limits={"cpu": "64"})},
}
"""Of the whole cluster; one has the name of a class of the namespace."""
REJECTED: Final = Condition(type="Ready", reason="TemplateRejected")
EXCEEDED: Final = Condition(type="Ready", reason="ResourceBoundsExceeded")
POLICY: Final[Manifest] = {"activeReplicas": 1}


def spec_invalid(*names: str) -> Condition:
    return Condition(type="Stalled", reason="SpecInvalid", status="True", names=names)


def spec(template: Manifest | None = None, **fields: Any) -> Manifest:
    given = {} if template is None else {"template": template}
    return {"instanceRef": "inst", "replicas": 0, **given, **fields}


def accepted(
    name: str,
    template: Manifest | None = None,
    warns: tuple[str, ...] = (),
    preset: Manifest | None = None,
    **fields: Any,
) -> Case:
    return Case(id=name, kind="FireboltEngine", spec=spec(template, **fields), warns=warns, preset=preset)


def refused(
    name: str,
    errors: tuple[str, ...],
    without: Without,
    template: Manifest | None = None,
    says: tuple[str, ...] = (),
    preset: Manifest | None = None,
    **fields: Any,
) -> Case:
    return Case(
        id=name,
        kind="FireboltEngine",
        spec=spec(template, **fields),
        refused=errors,
        without=without,
        says=says,
        preset=preset,
    )


def in_engine(**fields: Any) -> Manifest:
    return pod(containers=[container("engine", **fields)])


def _env(name: str) -> list[Manifest]:
    return [{"name": name, "value": "1"}]


CLASS_ROWS: Final = (
    accepted("no class"),
    accepted("a class", engineClassRef="plain"),
    accepted("a class of the cluster", engineClassRef="everybodys"),
    refused(
        "no such class",
        ('spec.engineClassRef: Not found: "nowhere"',),
        Condition(type="Stalled", reason="EngineClassMissing", status="True", names=('"nowhere"',)),
        engineClassRef="nowhere",
    ),
    refused(
        "no such class in this namespace",
        ('spec.engineClassRef: Not found: "elsewhere"',),
        Condition(type="Stalled", reason="EngineClassMissing", status="True", names=('"elsewhere"',)),
        engineClassRef="elsewhere",
    ),
    refused(
        "no such class and too much of everything",
        ('spec.engineClassRef: Not found: "nowhere"', *forbidden("spec.template.spec.hostname"), *invalid(CPU)),
        Condition(type="Stalled", reason="EngineClassMissing", status="True", names=('"nowhere"',)),
        pod(hostname="x", containers=[container("engine", resources={"limits": {"cpu": "64"}})]),
        engineClassRef="nowhere",
    ),
    Case(id="an empty class", kind="FireboltEngine", spec=spec(engineClassRef=""), schema="spec.engineClassRef"),
    accepted(
        "a class with a bad duration",
        engineClassRef="late",
        warns=('spec.engineClassRef: FireboltEngineClass "late" has a bad drainTimeout',),
    ),
)
BOUNDS_ROWS: Final = (
    accepted("exactly the bounds", resources(limits={"cpu": "32", "memory": "256Gi"})),
    accepted("the bounds in other words", resources(limits={"cpu": "32000m", "memory": "262144Mi"})),
    refused(
        "more cpu",
        invalid(CPU),
        EXCEEDED,
        resources(limits={"cpu": "64"}),
        (f'{CPU}: Invalid value: "64": exceeds operator-configured maximum 32',),
    ),
    refused(
        "more memory asked for",
        invalid("spec.template.spec.containers[engine].resources.requests.memory"),
        EXCEEDED,
        resources(requests={"memory": "512Gi"}),
        ('"512Gi": exceeds operator-configured maximum 256Gi',),
    ),
    accepted("what has no bound", resources(limits={"ephemeral-storage": "999Ti", "example.com/gpu": "999"})),
    accepted("a sidecar has no bounds", pod(containers=[container("side", resources={"limits": {"cpu": "999"}})])),
    refused(
        "more cpu by its class",
        invalid(CPU),
        EXCEEDED,
        engineClassRef="costly",
        says=(
            'maximum 32 (inherited from FireboltEngineClass "costly"; set spec.template on this engine to override)',
        ),
    ),
    refused(
        "more cpu by a class of the cluster",
        invalid(CPU),
        EXCEEDED,
        engineClassRef="everybodys-costly",
        says=('(inherited from ClusterFireboltEngineClass "everybodys-costly"; set spec.template on this engine',),
    ),
    refused(
        "more cpu by its preset",
        invalid(CPU),
        EXCEEDED,
        preset={"template": resources(limits={"cpu": "64"})},
        says=('(inherited from FireboltEnginePreset "firebolt"; set spec.template on this engine to override)',),
    ),
    accepted(
        "less by its preset than by its class",
        preset={"template": resources(limits={"cpu": "8"})},
        engineClassRef="costly",
    ),
    accepted(
        "less than its preset",
        resources(limits={"cpu": "8"}),
        preset={"template": resources(limits={"cpu": "64"})},
    ),
    accepted("less than its class", resources(limits={"cpu": "8"}), engineClassRef="costly"),
    accepted("neither engine nor class ask", pod(nodeSelector={"a": "b"}), engineClassRef="plain"),
    accepted(
        "claims alone hide the class",
        pod(
            resourceClaims=[{"name": "gpu", "resourceClaimName": "mine"}],
            containers=[container("engine", resources={"claims": [{"name": "gpu"}]})],
        ),
        engineClassRef="costly",
    ),
)
TEMPLATE_ROWS: Final = (
    refused(
        "every pod field",
        forbidden(*templates.paths("spec.template.spec", templates.POD_FIELDS)),
        REJECTED,
        pod(**templates.POD_FIELDS),
    ),
    refused(
        "every field of the container",
        forbidden(*templates.paths("spec.template.spec.containers[0]", templates.PRIMARY_FIELDS)),
        REJECTED,
        in_engine(**templates.PRIMARY_FIELDS),
    ),
    Case(
        id="a huge template",
        kind="FireboltEngine",
        spec=spec(templates.LARGE),
        refused=forbidden("spec.template.spec"),
        without=REJECTED,
        is_heavy=True,
    ),
    Case(
        id="a configuration that becomes too long",
        kind="FireboltEngine",
        spec=spec(customEngineConfig=indented_at_length()),
        refused=forbidden("spec.customEngineConfig"),
        without=REJECTED,
        is_heavy=True,
    ),
    Case(
        id="a configuration that becomes too long with that of its class",
        kind="FireboltEngine",
        spec=spec(engineClassRef="lengthy", customEngineConfig={"mine": [0] * 100_000}),
        refused=forbidden("spec.customEngineConfig"),
        says=("together with that of its class",),
        without=REJECTED,
        is_heavy=True,
    ),
    *(
        refused(
            f"the environment variable {name}",
            forbidden("spec.template.spec.containers[0].env[0].name"),
            REJECTED,
            in_engine(env=_env(name)),
        )
        for name in ("POD_INDEX", "FB_AWS_EC2_METADATA_CLIENT_ENABLED")
    ),
    accepted("an environment variable", in_engine(env=_env("DATABASE_URL"))),
    accepted("a sidecar's own POD_INDEX", pod(containers=[container("side", env=_env("POD_INDEX"))])),
    accepted("what only looks set", pod(**templates.UNSET_POD_FIELDS, containers=[container("engine", stdin=False)])),
)
SECRET_ROWS: Final = (
    refused(
        "a signing key as a volume",
        forbidden("spec.template.spec.volumes[0]"),
        Dropped(),
        pod(volumes=[templates.secret_volume("totally-fine", SIGNING_KEY)]),
        ('"totally-fine"', f'"{SIGNING_KEY}"'),
    ),
    refused(
        "a signing key, projected",
        forbidden("spec.template.spec.volumes[1]"),
        Dropped(),
        pod(volumes=[{"name": "own", "emptyDir": {}}, templates.projected_volume("v", SIGNING_KEY)]),
    ),
    refused(
        "a neighbour's serving key as a volume",
        forbidden("spec.template.spec.volumes[0]"),
        Dropped(),
        pod(volumes=[templates.secret_volume("v", "other-engine-g7-engine-tls")]),
    ),
    refused(
        "a neighbour's database as a volume",
        forbidden("spec.template.spec.volumes[0]"),
        Dropped(),
        pod(volumes=[{"name": "disk", "persistentVolumeClaim": {"claimName": "data-other-metadata-pg-0"}}]),
    ),
    accepted("a Secret of one's own", pod(volumes=[templates.secret_volume("v", "my-secret")])),
    accepted("the administrator's Secret, not in use", pod(volumes=[templates.secret_volume("v", "admin-password")])),
    accepted("an instance that is not there yet", instanceRef="later"),
    refused(
        "Secrets in every container's environment",
        forbidden(
            "spec.template.spec.containers[0]",
            "spec.template.spec.containers[1]",
            "spec.template.spec.initContainers[0]",
        ),
        REJECTED,
        pod(
            containers=[templates.reading("engine", SIGNING_KEY), templates.reading_all("side", LOGIN)],
            initContainers=[templates.reading("first", "inst-auth-signing-signing-9")],
        ),
    ),
    refused(
        "a Secret in the environment of its class",
        forbidden("spec.engineClassRef.template.spec.containers[0]"),
        REJECTED,
        engineClassRef="stealing",
    ),
    accepted("a Secret in a volume of its class is left out", engineClassRef="showing"),
    refused(
        "a Secret in the environment of its preset",
        forbidden("FireboltEnginePreset[firebolt].spec.template.spec.initContainers[0]"),
        REJECTED,
        preset={"template": pod(initContainers=[templates.reading("first", SIGNING_KEY)])},
    ),
    accepted(
        "a Secret in a volume of its preset is left out",
        preset={"template": pod(volumes=[templates.secret_volume("v", SIGNING_KEY)])},
    ),
)
SETTING_ROWS: Final = (
    refused(
        "no durations at all",
        invalid("spec.drainCheckInterval", "spec.drainTimeout", "spec.progressDeadline", "spec.autoStop.idleTimeout"),
        spec_invalid(
            "spec.drainCheckInterval", "spec.drainTimeout", "spec.progressDeadline", "spec.autoStop.idleTimeout"
        ),
        drainCheckInterval="1d",
        drainTimeout="soon",
        progressDeadline="5",
        autoStop={**POLICY, "idleTimeout": "1 h"},
    ),
    refused(
        "too short to be polled",
        invalid("spec.drainCheckInterval", "spec.autoStop.pollInterval"),
        Goes("what was stored before counts as one second"),
        drainCheckInterval="999ms",
        autoStop={**POLICY, "pollInterval": "0"},
        says=("must be at least 1s",),
    ),
    accepted("just long enough to be polled", drainCheckInterval="1s", autoStop={**POLICY, "pollInterval": "1000ms"}),
    accepted("no deadline", progressDeadline="0", drainTimeout="1h30m"),
    accepted(
        "a configuration that is not ours to take",
        customEngineConfig={"instance": "x", "engine": {"id": "y"}, "endpoints": [], "mine": {"a": [1]}},
    ),
)
WARNED_ROWS: Final = (
    accepted(
        "a schedule that starts nothing",
        autoStop={**POLICY, "enabled": False, "schedule": [{"start": "08:00", "end": "18:00"}]},
        warns=("spec.replicas: 0 and auto-stop is off: its schedule starts nothing",),
    ),
    accepted(
        "no such time zone",
        autoStop={**POLICY, "timeZone": "Mars/Phobos"},
        warns=('spec.autoStop.timeZone: "Mars/Phobos" is no time zone',),
    ),
    accepted(
        "images without a tag",
        {
            "spec": {
                "containers": [{"name": "engine", "image": "example.com:5000/engine"}, container("side")],
                "initContainers": [{"name": "first", "image": "first"}],
            }
        },
        warns=(
            'spec.template.spec.containers[0].image: "example.com:5000/engine" has no tag',
            'spec.template.spec.initContainers[0].image: "first" has no tag',
        ),
    ),
)
ROWS: Final = (*CLASS_ROWS, *BOUNDS_ROWS, *TEMPLATE_ROWS, *SECRET_ROWS, *SETTING_ROWS, *WARNED_ROWS)
