"""Which reason of a condition is mended how?"""

from collections.abc import Mapping
from typing import Final

from kubectl_firebolt import names
from kubectl_firebolt.names import EngineClassReason, EngineReason, InstanceReason

ENGINE_FIXES: Final[Mapping[str, str]] = {
    EngineReason.INITIALIZING: "give it a moment: the operator has only begun",
    EngineReason.CLASS_UNREADY: "mend the class: its template sets a field of the operator's, which the message names",
    EngineReason.PRESET_REQUIRED: (
        "create the FireboltEnginePreset named firebolt in this namespace, or take spec.requirePreset off the engine"
    ),
    EngineReason.PRESET_UNREADY: (
        "mend the FireboltEnginePreset: its template sets a field of the operator's, which the message names"
    ),
    EngineReason.DRAIN_CHECK_FAILING: (
        "let the operator ask the old pods whether they still run queries: port 9090 through NetworkPolicies, the right"
        " to get pods/proxy, or another spec.metricScrapeMode of the instance; spec.drainTimeout bounds the wait,"
        " and rollout: recreate does without it"
    ),
    EngineReason.INSTANCE_NOT_READY: "mend the instance; the engine follows by itself within seconds",
    EngineReason.TEMPLATE_REJECTED: "take the field that the message names out of spec.template (or of the class's)",
    EngineReason.ENSURE_FAILED: (
        "remove or rename the object that the message names if it is somebody else's;"
        " if the API server refused, mend the quota, policy or field that it names"
    ),
    EngineReason.RESOURCE_BOUNDS_EXCEEDED: (
        "ask for less in spec.template (or in the class), or have the operator's --engine-max-* raised"
    ),
    EngineReason.STOPPED: "start it",
    EngineReason.ROLLING: "give it time",
    EngineReason.PODS_NOT_READY: "mend its pods",
    EngineReason.QUEUED: (
        "let those that roll before it arrive, or mend the one that is stalled; an edit of the engine itself goes first"
    ),
    EngineReason.EXTERNAL_FINALIZER: "see that whoever set the finalizers that the message names takes them off",
    EngineReason.STATEFULSET_WARNING: "mend what the StatefulSet complains about; it tries again by itself",
    EngineReason.SPEC_INVALID: "correct the field that the message names, here or in the class that it names",
    EngineReason.ENGINE_CLASS_MISSING: (
        "create the class in this namespace or in the cluster, or let spec.engineClassRef name one that is there"
    ),
    EngineReason.PROGRESS_DEADLINE_EXCEEDED: (
        "mend the pods of the new generation, or edit the spec to start over;"
        " spec.progressDeadline says how long it may take"
    ),
    EngineReason.UNREADABLE: "edit it so that it can be read (is something nested very deeply?), or delete it",
}
_ISSUER: Final = "give cert-manager time, or see what its Certificate, CertificateRequest and issuer say"
_LAGGING: Final = "give the engines that it waits for time to roll, or explain the one that does not get on"
INSTANCE_FIXES: Final[Mapping[str, str]] = {
    InstanceReason.PROVISIONING: "give it time, or mend the pods below",
    InstanceReason.INITIALIZING: "give it a moment: the operator has only begun",
    InstanceReason.TEMPLATE_REJECTED: "take the field that the message names out of the component's template",
    InstanceReason.SPEC_INVALID: "correct the field that the message names",
    InstanceReason.ENSURE_FAILED: (
        "remove or rename the object that the message names if it is somebody else's;"
        " if the API server refused, mend what it names"
    ),
    InstanceReason.PROBE_FAILED: "let the operator read what the message names",
    InstanceReason.POSTGRES_ENSURE_FAILED: "mend what keeps the database from being made: the message names it",
    InstanceReason.POSTGRES_SECRET_PREFLIGHT_FAILED: "create the Secret that the message names, with the keys it names",
    InstanceReason.POSTGRES_CREDENTIALS_LOST: (
        "restore the credentials Secret that the message names (or remove the data volume if its data may go), then"
        " annotate the instance " + names.ANNOTATION_CLEAR_FAILED + "=true"
    ),
    InstanceReason.INSTANCE_ID_CHANGED: (
        "set spec.id back to what the message says was published, or accept the new one: annotate the instance "
        + names.ANNOTATION_CLEAR_FAILED
        + "=true"
    ),
    InstanceReason.IMAGE_BELOW_FLOOR: (
        "nothing, unless newer engine images are wanted: then move metadata and all engines of the instance to them"
    ),
    InstanceReason.IMAGE_RESOLVE_FAILED: "mend the engine or the class that the message names",
    InstanceReason.UPDATE_REJECTED: "upgrade the CRDs, or lift the policy that the message names",
    InstanceReason.AUTH_SPEC_INVALID: "correct spec.auth as the message says",
    InstanceReason.TLS_SPEC_INVALID: "correct spec.tls as the message says",
    InstanceReason.ADMIN_SECRET_MISSING: "create the Secret with the administrator's password, with the key it names",
    InstanceReason.SIGNING_CERTIFICATE_ENSURE_FAILED: "let the operator write the Certificate that the message names",
    InstanceReason.CERTIFICATE_ENSURE_FAILED: "let the operator write the Certificate that the message names",
    InstanceReason.SIGNING_KEY_PENDING: _ISSUER,
    InstanceReason.CERTIFICATE_PENDING: _ISSUER,
    InstanceReason.SECRET_PENDING: "create the Secret that the message names, with tls.crt and tls.key",
    InstanceReason.DRAIN_CHECK_FAILED: "let the operator list the engines of this namespace",
    InstanceReason.CONVERGENCE_CHECK_FAILED: "let the operator list the engines of this namespace",
    InstanceReason.ROTATION_WAITING_FOR_ENGINES: _LAGGING,
    InstanceReason.DRAINING: _LAGGING,
    InstanceReason.CONVERGING: _LAGGING,
    InstanceReason.STAGING_FAIL_CLOSED: "give it time: queries are refused until the old gateway pods are gone",
    InstanceReason.SECURE_ROLLOUT_PENDING: "give it time; if it stays, see that certificate and key can be loaded",
    InstanceReason.CRL_SECRET_PREFLIGHT_FAILED: "put lists of all CAs into the Secret, key crl.pem, as PEM",
}
INSTANCE_ON_ITS_WAY: Final = frozenset(
    {
        InstanceReason.PROVISIONING,
        InstanceReason.INITIALIZING,
        InstanceReason.SIGNING_KEY_PENDING,
        InstanceReason.CERTIFICATE_PENDING,
        InstanceReason.ROTATION_WAITING_FOR_ENGINES,
        InstanceReason.DRAINING,
        InstanceReason.CONVERGING,
        InstanceReason.STAGING_FAIL_CLOSED,
        InstanceReason.SECURE_ROLLOUT_PENDING,
    }
)
ENGINE_CLASS_FIXES: Final[Mapping[str, str]] = {
    EngineClassReason.OPERATOR_OWNED_FIELD_SET: "take the field that the message names out of spec.template",
    EngineClassReason.DELETION_BLOCKED: "let the engines that use it use another class, or none",
    EngineClassReason.SPEC_INVALID: "correct the field that the message names",
}


def fix_for(fixes: Mapping[str, str], reason: str) -> str:
    """What no table knows is the word of somebody else, mostly of Kubernetes: its message is all there is."""
    return fixes.get(reason, "mend what the message says; it is tried again by itself")
