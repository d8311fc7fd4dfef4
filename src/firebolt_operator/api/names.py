"""Every label, annotation, finalizer, reason, port and fixed name that is part of the wire contract, in one place."""

from enum import StrEnum
from typing import Final

GROUP: Final = "compute.firebolt.io"
VERSION: Final = "v1alpha1"
FIELD_MANAGER: Final = "firebolt-operator"

RESERVED_PREFIX: Final = "firebolt.io/"
LABEL_ENGINE: Final = "firebolt.io/engine"
LABEL_GENERATION: Final = "firebolt.io/generation"
LABEL_INSTANCE: Final = "firebolt.io/instance"
LABEL_COMPONENT: Final = "firebolt.io/component"
LABEL_POLICY_PARAMETER: Final = "firebolt.io/policy-parameter"
POLICY_PARAMETER_ACCOUNTS: Final = "gateway-accounts"  # its value on what the gateways' admission policy reads
KEY_ACCOUNTS: Final = "accounts"

ANNOTATION_METADATA_OVERRIDE: Final = "firebolt.io/metadata-override"
ANNOTATION_CUSTOM_CONFIG_HASH: Final = "firebolt.io/custom-engine-config-hash"
ANNOTATION_AUTH_HASH: Final = "firebolt.io/auth-hash"
ANNOTATION_ENGINE_TLS_HASH: Final = "firebolt.io/engine-tls-hash"
ANNOTATION_SIGNING_KEYS: Final = "firebolt.io/signing-keys"
ANNOTATION_SERVING_CERTIFICATE: Final = "firebolt.io/serving-certificate"
ANNOTATION_ENGINE_TRUST_CAS: Final = "firebolt.io/engine-trust-cas"
ANNOTATION_ENGINE_TRUST_GENERATIONS: Final = "firebolt.io/engine-trust-generations"
ANNOTATION_ENGINE_TRUST_REVISION: Final = "firebolt.io/engine-trust-revision"
ANNOTATION_TLS_REVISIONS: Final = "firebolt.io/tls-revisions"  # on the gateway's Deployment
ANNOTATION_ENGINE_CLASS_HASH: Final = "firebolt.io/engine-class-hash"
ANNOTATION_ENGINE_PRESET_HASH: Final = "firebolt.io/engine-preset-hash"
ANNOTATION_CONFIG_HASH: Final = "firebolt.io/config-hash"
ANNOTATION_WAKE_REQUESTED: Final = "firebolt.io/wake-requested"
ANNOTATION_CLEAR_FAILED: Final = "firebolt.io/clear-failed"
ANNOTATION_INSTANCE_ID: Final = "firebolt.io/instance-id"  # on the credentials of a database that is kept
ANNOTATION_CERTIFICATE_NAME: Final = "cert-manager.io/certificate-name"
ANNOTATION_TRUST: Final = "firebolt.io/webhook-trust"  # of webhook configurations
TRUST_BY_OPERATOR: Final = "operator"  # keeps their caBundle; anything else: somebody else does

FINALIZER_ENGINE: Final = "compute.firebolt.io/engine-cleanup"
FINALIZER_INSTANCE: Final = "compute.firebolt.io/instance-cleanup"
FINALIZER_ENGINE_CLASS: Final = "compute.firebolt.io/fireboltengineclass-deletion-guard"

FINALIZER_ENGINE_PRESET: Final = "compute.firebolt.io/fireboltenginepresets-deletion-guard"
FINALIZER_CLUSTER_ENGINE_CLASS: Final = "compute.firebolt.io/clusterfireboltengineclass-deletion-guard"
PRESET_NAME: Final = "firebolt"  # of the only preset that a namespace can have

CONTROLLER_ENGINE: Final = "fireboltengine"
CONTROLLER_INSTANCE: Final = "fireboltinstance"
CONTROLLER_ENGINE_CLASS: Final = "fireboltengineclass"
CONTROLLER_ENGINE_PRESET: Final = "fireboltenginepreset"
CONTROLLER_CLUSTER_ENGINE_CLASS: Final = "clusterfireboltengineclass"
CONTROLLER_WEBHOOK_CERTIFICATES: Final = "webhook-certificates"
LEASE_NAME: Final = "c662f7f5.firebolt.io"

COMPONENT_POSTGRES: Final = "postgres"
COMPONENT_METADATA: Final = "metadata"
COMPONENT_GATEWAY: Final = "gateway"
COMPONENT_AUTH_SIGNING: Final = "auth-signing"
COMPONENT_ENGINE_TLS: Final = "engine-tls"
COMPONENT_GATEWAY_TLS: Final = "gateway-tls"
COMPONENT_ENGINE_CA_BUNDLE: Final = "engine-ca-bundle"

KEY_CERTIFICATE: Final = "tls.crt"  # in the Secrets that cert-manager writes
KEY_PRIVATE_KEY: Final = "tls.key"
KEY_AUTHORITY: Final = "ca.crt"
KEY_REVOCATIONS: Final = "crl.pem"

ENGINE_CONFIG_KEY: Final = "config.yaml"  # in the ConfigMap of a generation
CONTAINER_ENGINE: Final = "engine"
CONTAINER_ENGINE_WEB: Final = "engine-web"
CONTAINER_ENVOY: Final = "envoy"
CONTAINER_METADATA: Final = "metadata"
CONTAINER_WAKE_AGENT: Final = "wake-agent"

VOLUME_ENGINE_CONFIG: Final = "engine-config"
VOLUME_ENGINE_DATA: Final = "data"
VOLUME_ENGINE_RUNTIME: Final = "runtime"
VOLUME_ENGINE_WEB: Final = "nginx-writable-dir"
VOLUME_ENGINE_ADMIN: Final = "auth-admin"
VOLUME_ENGINE_TLS: Final = "tls-engine"
VOLUME_SIGNING_PREFIX: Final = "auth-signing-"  # followed by the key's id
VOLUME_GATEWAY_CONFIG: Final = "config-volume"
VOLUME_GATEWAY_TMP: Final = "tmp"
VOLUME_GATEWAY_ENGINE_CA: Final = "engine-ca"
VOLUME_GATEWAY_TLS: Final = "tls-gateway"
VOLUME_GATEWAY_CLIENT_CA: Final = "client-ca"
VOLUME_GATEWAY_ENGINE_CRL: Final = "engine-crl"
VOLUME_GATEWAY_CLIENT_CRL: Final = "client-crl"
VOLUME_GATEWAY_AGENT_TOKEN: Final = "wake-agent-token"  # noqa: S105 - a volume, not a token
VOLUME_METADATA_CONFIG: Final = "config"
VOLUME_METADATA_CREDENTIALS: Final = "postgres-creds"
VOLUME_METADATA_TMP: Final = "tmp"
VOLUME_METADATA_POSTGRES_CA: Final = "postgres-ca"

ENV_POD_INDEX: Final = "POD_INDEX"
ENV_EC2_METADATA: Final = "FB_AWS_EC2_METADATA_CLIENT_ENABLED"

PORT_QUERY: Final = 3473
PORT_ENGINE_HEALTH: Final = 8122
PORT_ENGINE_METRICS: Final = 9090
PORT_WEB_UI: Final = 9100
PORT_METADATA: Final = 7000
PORT_POSTGRES: Final = 5432
PORT_GATEWAY: Final = 8080
PORT_ENVOY_ADMIN: Final = 9901
PORT_WAKE_HOLD: Final = 9902
PORT_WAKE_METRICS: Final = 9903

CONDITION_READY: Final = "Ready"
CONDITION_STALLED: Final = "Stalled"
CONDITION_RECONCILING: Final = "Reconciling"
CONDITION_INSTANCE_READY: Final = "InstanceReady"
CONDITION_METADATA_READY: Final = "MetadataReady"
CONDITION_GATEWAY_READY: Final = "GatewayReady"
CONDITION_INSTANCE_ID_CANONICAL: Final = "InstanceIDCanonical"
CONDITION_AUTH_READY: Final = "AuthReady"
CONDITION_ENGINE_TLS_READY: Final = "EngineTLSReady"
CONDITION_GATEWAY_TLS_READY: Final = "GatewayTLSReady"


class EnginePhase(StrEnum):
    """Where an engine is between two generations; the empty string means the status was never written."""

    UNSET = ""
    CREATING = "creating"
    SWITCHING = "switching"
    DRAINING = "draining"
    CLEANING = "cleaning"
    STABLE = "stable"
    STOPPED = "stopped"


class InstancePhase(StrEnum):
    UNSET = ""
    PROVISIONING = "Provisioning"
    READY = "Ready"
    DEGRADED = "Degraded"
    FAILED = "Failed"


class SigningKeyPhase(StrEnum):
    """What engines do with a signing key; the empty string, of an older release, means that it signs."""

    UNSET = ""
    ACTIVE = "Active"
    VALIDATION_ONLY = "ValidationOnly"
    REMOVING = "Removing"


class RotationStep(StrEnum):
    """What a rotation of the signing key waits for."""

    PROMOTION = "AwaitingPromotion"
    RETIRE_ANCHOR = "AwaitingRetireAnchor"
    REMOVAL = "AwaitingRemoval"


class TLSMode(StrEnum):
    """What the gateway's listener asks of its clients."""

    PLAINTEXT = ""
    ONE_WAY = "TLS"
    MUTUAL = "MutualTLS"


class Rollout(StrEnum):
    GRACEFUL = "graceful"
    RECREATE = "recreate"


class ScrapeMode(StrEnum):
    APISERVER_PROXY = "ApiserverProxy"
    POD_IP = "PodIP"


class EngineReason(StrEnum):
    """Reasons of an engine's conditions."""

    INITIALIZING = "Initializing"
    CLASS_UNREADY = "FireboltEngineClassUnready"
    PRESET_REQUIRED = "FireboltEnginePresetRequired"
    PRESET_UNREADY = "FireboltEnginePresetUnready"
    DRAIN_CHECK_FAILING = "DrainCheckFailing"
    INSTANCE_NOT_READY = "InstanceNotReady"
    INSTANCE_READY = "InstanceReady"
    TEMPLATE_REJECTED = "TemplateRejected"
    ENSURE_FAILED = "EnsureFailed"
    RESOURCE_BOUNDS_EXCEEDED = "ResourceBoundsExceeded"
    STOPPED = "Stopped"
    ROLLING = "Rolling"
    PODS_NOT_READY = "PodsNotReady"
    QUEUED = "Queued"
    ENGINE_READY = "EngineReady"
    EXTERNAL_FINALIZER = "ExternalFinalizer"
    STATEFULSET_WARNING = "StatefulSetWarning"
    SPEC_INVALID = "SpecInvalid"
    ENGINE_CLASS_MISSING = "EngineClassMissing"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    UNREADABLE = "Unreadable"


class EngineClassReason(StrEnum):
    """Reasons of the conditions of classes and presets."""

    ADMISSIBLE = "Admissible"
    OPERATOR_OWNED_FIELD_SET = "OperatorOwnedFieldSet"
    DELETION_BLOCKED = "DeletionBlocked"
    SPEC_INVALID = "SpecInvalid"


class InstanceReason(StrEnum):
    """Reasons of an instance's conditions."""

    READY = "Ready"
    PROVISIONING = "Provisioning"
    INITIALIZING = "Initializing"
    ALL_COMPONENTS_READY = "AllComponentsReady"
    TEMPLATE_REJECTED = "TemplateRejected"
    SPEC_INVALID = "SpecInvalid"
    ENSURE_FAILED = "EnsureFailed"
    PROBE_FAILED = "ProbeFailed"
    POSTGRES_ENSURE_FAILED = "PostgresEnsureFailed"
    POSTGRES_SECRET_PREFLIGHT_FAILED = "PostgresSecretPreflightFailed"  # noqa: S105 - a reason, not a secret
    POSTGRES_CREDENTIALS_LOST = "PostgresCredentialsLost"
    INSTANCE_ID_CHANGED = "InstanceIDChanged"
    CANONICAL = "Canonical"
    IMAGE_BELOW_FLOOR = "ImageBelowFloor"
    IMAGE_RESOLVE_FAILED = "ImageResolveFailed"
    UPDATE_REJECTED = "UpdateRejected"
    DISABLED = "Disabled"
    AUTH_SPEC_INVALID = "AuthSpecInvalid"
    TLS_SPEC_INVALID = "TLSSpecInvalid"
    ADMIN_SECRET_MISSING = "AdminSecretMissing"  # noqa: S105 - a reason, not a secret
    SIGNING_CERTIFICATE_ENSURE_FAILED = "SigningCertificateEnsureFailed"
    SIGNING_KEY_PENDING = "SigningKeyPending"
    ROTATION_WAITING_FOR_ENGINES = "RotationWaitingForEngines"
    DRAIN_CHECK_FAILED = "DrainCheckFailed"
    CONVERGENCE_CHECK_FAILED = "ConvergenceCheckFailed"
    DRAINING = "Draining"
    CONVERGING = "Converging"
    CERTIFICATE_ENSURE_FAILED = "CertificateEnsureFailed"
    CERTIFICATE_PENDING = "CertificatePending"
    SECRET_PENDING = "SecretPending"  # noqa: S105 - a reason, not a secret
    STAGING_FAIL_CLOSED = "StagingFailClosed"
    SECURE_ROLLOUT_PENDING = "SecureRolloutPending"
    CRL_SECRET_PREFLIGHT_FAILED = "CRLSecretPreflightFailed"  # noqa: S105 - a reason, not a secret


class EventReason(StrEnum):
    """Reasons of the warnings we emit."""

    SECRET_ALIAS_VOLUME_DROPPED = "SecretAliasVolumeDropped"  # noqa: S105 - a reason, not a secret
    EXTERNAL_FINALIZER = "ExternalFinalizerOnOwnedResource"
    ENGINE_CLASS_MISSING = "EngineClassMissing"
    DRAIN_TIMEOUT = "DrainTimeout"
    UNREADABLE = "Unreadable"
    UNKNOWN_TIME_ZONE = "UnknownTimeZone"
    STATUS_FIELDS_DROPPED = "StatusFieldsDropped"
    PROGRESS_DEADLINE_EXCEEDED = "ProgressDeadlineExceeded"
    POSTGRES_CREDENTIALS_LOST = "PostgresCredentialsLost"
    INSTANCE_ID_CHANGED = "InstanceIDChanged"
    SIGNING_KEY_ROTATION_STEP_FAILED = "SigningKeyRotationStepFailed"
    SIGNING_KEY_ROTATION_STALLED = "SigningKeyRotationStalled"
    SIGNING_KEY_PROVENANCE_REJECTED = "SigningKeyProvenanceRejected"
    SIGNING_KEY_MATERIAL_REGENERATED = "SigningKeyMaterialRegenerated"


class NewsReason(StrEnum):
    """Reasons of the events that tell of nothing wrong."""

    GENERATION_STARTED = "GenerationStarted"
    SWITCHED = "Switched"
    DRAINED = "Drained"
    PARKED = "Parked"
    WOKEN = "Woken"
    CERTIFICATE_RENEWED = "CertificateRenewed"


class AutoStopReason(StrEnum):
    DISABLED = "Disabled"
    SCHEDULE_ACTIVE = "ScheduleActive"
    STOPPED = "Stopped"
    ACTIVITY_OBSERVED = "ActivityObserved"
    SCRAPE_FAILED = "ScrapeFailed"
    IDLE = "Idle"
    WAKE_REQUESTED = "WakeRequested"
    INITIALIZING = "Initializing"


def statefulset_name(engine: str, generation: int) -> str:
    return f"{engine}-g{generation}"


def headless_service_name(engine: str, generation: int) -> str:
    return f"{engine}-g{generation}-hl"


def config_map_name(engine: str, generation: int) -> str:
    return f"{engine}-g{generation}-config"


def engine_tls_name(engine: str, generation: int) -> str:
    """Of its Certificate and of its Secret."""
    return f"{engine}-g{generation}-engine-tls"


def is_engine_tls_name(engine: str, name: str) -> bool:
    """Whether it is that of some generation of this engine."""
    number = name.removeprefix(f"{engine}-g").removesuffix("-engine-tls")
    return number.isascii() and number.isdigit() and name == f"{engine}-g{number}-engine-tls"


def engine_service_name(engine: str) -> str:
    return f"{engine}-service"


def disruption_budget_name(engine: str) -> str:
    return f"{engine}-pdb"


def postgres_name(instance: str) -> str:
    return f"{instance}-metadata-pg"


def postgres_claim_name(instance: str) -> str:
    """The claim that the StatefulSet makes for its only pod."""
    return f"data-{postgres_name(instance)}-0"


def metadata_name(instance: str) -> str:
    return f"{instance}-metadata"


def metadata_config_name(instance: str) -> str:
    return f"{instance}-metadata-config"


def metadata_credentials_name(instance: str) -> str:
    return f"{instance}-metadata-postgres-creds"


def engine_ca_bundle_name(instance: str) -> str:
    return f"{instance}-engine-ca-bundle"


def engine_tls_anchor_name(instance: str) -> str:
    return f"{instance}-engine-tls"


def gateway_tls_name(instance: str) -> str:
    return f"{instance}-gateway-tls"


def signing_key_id(number: int) -> str:
    """The `kid` of the tokens that the key signs."""
    return f"signing-{number}"


def signing_key_name(instance: str, number: int) -> str:
    """Of its Certificate and of its Secret; the first has no number, as before there were others."""
    return f"{instance}-auth-signing" if number == 1 else f"{instance}-auth-signing-{signing_key_id(number)}"


def gateway_name(instance: str) -> str:
    """Deployment, Service, PodDisruptionBudget, ServiceAccount, Role and RoleBinding share it."""
    return f"{instance}-gateway"


def gateway_config_name(instance: str) -> str:
    return f"{instance}-gateway-config"


def gateway_accounts_name(instance: str) -> str:
    return f"{instance}-gateway-accounts"
