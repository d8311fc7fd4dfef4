"""The kinds the operator reads or writes, as the API server addresses them."""

from typing import Final

from firebolt_operator.api.names import GROUP, VERSION
from firebolt_operator.refs import Resource

FIREBOLT_INSTANCES: Final = Resource(GROUP, VERSION, "fireboltinstances", "FireboltInstance")
FIREBOLT_ENGINES: Final = Resource(GROUP, VERSION, "fireboltengines", "FireboltEngine")
FIREBOLT_ENGINE_CLASSES: Final = Resource(GROUP, VERSION, "fireboltengineclasses", "FireboltEngineClass")
FIREBOLT_ENGINE_PRESETS: Final = Resource(GROUP, VERSION, "fireboltenginepresets", "FireboltEnginePreset")
CLUSTER_FIREBOLT_ENGINE_CLASSES: Final = Resource(
    GROUP, VERSION, "clusterfireboltengineclasses", "ClusterFireboltEngineClass", namespaced=False
)

PODS: Final = Resource("", "v1", "pods", "Pod")
SERVICES: Final = Resource("", "v1", "services", "Service")
CONFIG_MAPS: Final = Resource("", "v1", "configmaps", "ConfigMap")
SECRETS: Final = Resource("", "v1", "secrets", "Secret")
SERVICE_ACCOUNTS: Final = Resource("", "v1", "serviceaccounts", "ServiceAccount")
PERSISTENT_VOLUME_CLAIMS: Final = Resource("", "v1", "persistentvolumeclaims", "PersistentVolumeClaim")
CORE_EVENTS: Final = Resource("", "v1", "events", "Event")
EVENTS: Final = Resource("events.k8s.io", "v1", "events", "Event")
STATEFULSETS: Final = Resource("apps", "v1", "statefulsets", "StatefulSet")
DEPLOYMENTS: Final = Resource("apps", "v1", "deployments", "Deployment")
POD_DISRUPTION_BUDGETS: Final = Resource("policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget")
ROLES: Final = Resource("rbac.authorization.k8s.io", "v1", "roles", "Role")
ROLE_BINDINGS: Final = Resource("rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding")
ENDPOINT_SLICES: Final = Resource("discovery.k8s.io", "v1", "endpointslices", "EndpointSlice")
CERTIFICATES: Final = Resource("cert-manager.io", "v1", "certificates", "Certificate")
CUSTOM_RESOURCE_DEFINITIONS: Final = Resource(
    "apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", namespaced=False
)
