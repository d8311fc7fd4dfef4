"""Which fields of a pod template belong to the operator, component by component. Tables only; owned_fields walks them.

Whatever no table names passes through to the pod unchanged, so that nothing a person writes is silently ignored. What
Kubernetes itself refuses in a template (ephemeralContainers, for example) it refuses in ours, in its own words.
One exception is no rejection but a floor: the metadata pod's securityContext is raised to non-root, not refused.
"""

from dataclasses import dataclass
from typing import Final

from firebolt_operator.api import names


@dataclass(frozen=True, slots=True)
class OwnedField:
    name: str
    detail: str
    nullable: bool = False  # anything but null counts as set, even false, 0 and {}
    unless: str = ""  # a field beside it that hands this one to the user


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentRules:
    component: str  # as messages name it
    primary: str  # the container that the operator renders
    reserved_containers: frozenset[str]
    pod_fields: tuple[OwnedField, ...]
    primary_fields: tuple[OwnedField, ...]
    reserved_env: frozenset[str] = frozenset()  # on the primary container, where env as such is allowed
    operator_volumes: frozenset[str]
    secret_volumes: frozenset[str]  # the ones no sidecar may mount; the rest hold no credentials

    def owns_volume(self, name: str) -> bool:
        return name in self.operator_volumes or name.startswith(names.VOLUME_SIGNING_PREFIX)

    def guards_volume(self, name: str) -> bool:
        # The prefix holds for every component: key ids come and go, and no sidecar has business with any of them.
        return name in self.secret_volumes or name.startswith(names.VOLUME_SIGNING_PREFIX)


def _metadata_field(name: str, why: str, *, nullable: bool = False) -> OwnedField:
    return OwnedField(name, f"pod template metadata.{name} {why}; remove it", nullable)


SET_BY_WORKLOAD: Final = "has no effect: the workload controller sets it on each pod"
SET_BY_SERVER: Final = "has no effect: the API server sets it"
METADATA_FIELDS: Final = (
    _metadata_field("name", SET_BY_WORKLOAD),
    _metadata_field("generateName", SET_BY_WORKLOAD),
    _metadata_field("namespace", "has no effect: pods run in the namespace of their resource"),
    _metadata_field("uid", SET_BY_SERVER),
    _metadata_field("resourceVersion", SET_BY_SERVER),
    _metadata_field("generation", SET_BY_SERVER),
    _metadata_field("creationTimestamp", SET_BY_SERVER),
    _metadata_field("deletionTimestamp", SET_BY_SERVER, nullable=True),
    _metadata_field("deletionGracePeriodSeconds", SET_BY_SERVER, nullable=True),
    _metadata_field("ownerReferences", SET_BY_WORKLOAD),
    _metadata_field("finalizers", "has no effect: the operator sets none on its pods"),
    _metadata_field("managedFields", SET_BY_SERVER),
)
USABLE_METADATA: Final = frozenset({"labels", "annotations"})

COMMON_POD_FIELDS: Final = (
    OwnedField("terminationGracePeriodSeconds", "terminationGracePeriodSeconds is operator-owned", nullable=True),
    OwnedField("subdomain", "subdomain is owned by the operator"),
    OwnedField("hostname", "hostname is owned by the operator"),
    OwnedField("restartPolicy", "restartPolicy is fixed by the workload controller"),
    OwnedField(
        "activeDeadlineSeconds",
        "activeDeadlineSeconds is incompatible with long-lived component pods",
        nullable=True,
    ),
    OwnedField("hostNetwork", "hostNetwork sharing is not permitted for component pods"),
    OwnedField("hostPID", "hostPID sharing is not permitted for component pods"),
    OwnedField("hostIPC", "hostIPC sharing is not permitted for component pods"),
    OwnedField("shareProcessNamespace", "shareProcessNamespace is not permitted for component pods", nullable=True),
    OwnedField("hostUsers", "hostUsers is not permitted for component pods", nullable=True),
    OwnedField("enableServiceLinks", "enableServiceLinks is operator-owned", nullable=True),
    # Kubernetes overwrites this alias with serviceAccountName wherever both end up in one pod, be it through a class
    # or through the operator's own account: the alias would be ignored there, and show as drift for ever.
    OwnedField("serviceAccount", "serviceAccount is a deprecated alias; set serviceAccountName instead"),
)
TOKEN_DETAIL: Final = "automountServiceAccountToken is operator-owned"  # noqa: S105 - a message, not a token


def _primary_fields(component: str, *, closed: bool) -> tuple[OwnedField, ...]:
    """The primary container's fields in the order they are reported; a closed container is the operator's own."""

    def owned(name: str, verb: str = "is", *, nullable: bool = False) -> OwnedField:
        return OwnedField(name, f"{component} container {name} {verb} operator-owned", nullable)

    def interactive(name: str) -> OwnedField:
        return OwnedField(name, f"{component} container {name} is for interactive use only")

    always = (
        owned("command"),
        owned("args", "are"),
        owned("ports", "are"),
        owned("readinessProbe", nullable=True),
        owned("livenessProbe", nullable=True),
        owned("startupProbe", nullable=True),
        OwnedField("restartPolicy", "restartPolicy has no effect on a long-lived workload container", nullable=True),
        OwnedField("restartPolicyRules", "restartPolicyRules have no effect on a long-lived workload container"),
        interactive("stdin"),
        interactive("stdinOnce"),
        interactive("tty"),
    )
    if not closed:
        return always
    return (
        *always,
        owned("securityContext", nullable=True),
        owned("lifecycle", nullable=True),
        owned("env"),
        owned("envFrom"),
        owned("volumeMounts", "are"),
        owned("workingDir"),
        owned("terminationMessagePath"),
        owned("terminationMessagePolicy"),
        owned("volumeDevices", "are"),
        owned("resizePolicy"),
    )


ENGINE: Final = ComponentRules(
    component="engine",
    primary=names.CONTAINER_ENGINE,
    reserved_containers=frozenset({names.CONTAINER_ENGINE_WEB}),
    pod_fields=COMMON_POD_FIELDS,
    primary_fields=_primary_fields("engine", closed=False),
    # Safety: user entries follow the operator's and the kubelet takes the last, so POD_INDEX could forge an identity.
    reserved_env=frozenset({names.ENV_POD_INDEX, names.ENV_EC2_METADATA}),
    operator_volumes=frozenset(
        {
            names.VOLUME_ENGINE_CONFIG,
            names.VOLUME_ENGINE_DATA,
            names.VOLUME_ENGINE_RUNTIME,
            names.VOLUME_ENGINE_ADMIN,
            names.VOLUME_ENGINE_TLS,
            names.VOLUME_ENGINE_WEB,
        }
    ),
    secret_volumes=frozenset({names.VOLUME_ENGINE_ADMIN, names.VOLUME_ENGINE_TLS}),
)

GATEWAY_SECRET_VOLUMES: Final = frozenset(
    {
        names.VOLUME_GATEWAY_ENGINE_CA,
        names.VOLUME_GATEWAY_TLS,
        names.VOLUME_GATEWAY_CLIENT_CA,
        names.VOLUME_GATEWAY_ENGINE_CRL,
        names.VOLUME_GATEWAY_CLIENT_CRL,
        names.VOLUME_GATEWAY_AGENT_TOKEN,
    }
)
GATEWAY: Final = ComponentRules(
    component="gateway",
    primary=names.CONTAINER_ENVOY,
    reserved_containers=frozenset({names.CONTAINER_WAKE_AGENT}),
    pod_fields=(
        *COMMON_POD_FIELDS,
        OwnedField(
            "automountServiceAccountToken",
            f"{TOKEN_DETAIL} unless serviceAccountName is set",
            nullable=True,
            unless="serviceAccountName",
        ),
    ),
    primary_fields=_primary_fields("gateway", closed=True),
    operator_volumes=GATEWAY_SECRET_VOLUMES | {names.VOLUME_GATEWAY_CONFIG, names.VOLUME_GATEWAY_TMP},
    secret_volumes=GATEWAY_SECRET_VOLUMES,
)

METADATA: Final = ComponentRules(
    component="metadata",
    primary=names.CONTAINER_METADATA,
    reserved_containers=frozenset(),
    pod_fields=(*COMMON_POD_FIELDS, OwnedField("automountServiceAccountToken", TOKEN_DETAIL, nullable=True)),
    primary_fields=_primary_fields("metadata", closed=True),
    operator_volumes=frozenset(
        {
            names.VOLUME_METADATA_CONFIG,
            names.VOLUME_METADATA_CREDENTIALS,
            names.VOLUME_METADATA_TMP,
            names.VOLUME_METADATA_POSTGRES_CA,
        }
    ),
    secret_volumes=frozenset({names.VOLUME_METADATA_CREDENTIALS}),
)
