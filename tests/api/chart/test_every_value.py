"""Does every value of the chart do something, and does the process understand what it becomes?"""

import json
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import pytest
import yaml

from firebolt_operator.refs import Manifest
from firebolt_operator.settings import parse_settings
from tests.support.chart import CHART, arguments, rendered

PEER = [{"ipBlock": {"cidr": "10.0.0.0/8"}}]
POLICIES = {"networkPolicy": {"enabled": True, "namespaces": ["a"]}}
ENGINES = {"podMonitor": {"engines": {"enabled": True}}}
GATEWAYS = {"podMonitor": {"gateway": {"enabled": True}}}
SCRAPED = {"serviceMonitor": {"operator": {"enabled": True, "caSecret": {"name": "ca"}}}}
ISSUED = {"webhook": {"certManager": {"enabled": True, "issuerRef": {"name": "ca"}}}}
OTHERWISE: dict[str, Any] = {
    "replicaCount": 2,
    "image.repository": "registry.example/op",
    "image.pullPolicy": "Always",
    "image.tag": "v9",
    "image.digest": "sha256:" + "0123456789abcdef" * 4,
    "imagePullSecrets": [{"name": "pull"}],
    "nameOverride": "fb",
    "fullnameOverride": "fb",
    "extraLabels": {"team": "data"},
    "extraAnnotations": {"note": "text"},
    "podLabels": {"team": "data"},
    "podAnnotations": {"note": "text"},
    "podSecurityContext": {"runAsUser": 1000},
    "serviceAccount.create": False,
    "serviceAccount.annotations": {"role": "arn"},
    "serviceAccount.name": "ours",
    "rbac.create": False,
    "rbac.apiserverProxyGrant": False,
    "admissionPolicy.create": False,
    "wakeAgent.enabled": False,
    "leaderElection.enabled": False,
    "metrics.enabled": False,
    "metrics.bindAddress": "0.0.0.0:9999",
    "metrics.secure": False,
    "metrics.certSecretName": "cert",
    "healthProbeBindAddress": "127.0.0.1:9998",
    "webhook.enabled": False,
    "webhook.port": 9444,
    "webhook.certManager.enabled": True,
    "webhook.certManager.issuerRef.name": "another",
    "webhook.certManager.issuerRef.kind": "Issuer",
    "webhook.certSecretName": "cert",
    "webhook.certDir": "/certs",
    "webhook.caBundle": "Y2E=",
    "webhook.webhookConfigurationAnnotations": {"inject": "ca"},
    "webhook.mutatingWebhookConfiguration.enabled": False,
    "webhook.mutatingWebhookConfiguration.failurePolicy": "Fail",
    "webhook.mutatingWebhookConfiguration.timeoutSeconds": 3,
    "webhook.validatingWebhookConfiguration.enabled": False,
    "webhook.validatingWebhookConfiguration.failurePolicy": "Ignore",
    "webhook.validatingWebhookConfiguration.timeoutSeconds": 3,
    "watchNamespaces": ["a"],
    "watchLabelSelector": "team=data",
    "engineResourceBounds.maxCPU": 4,
    "engineResourceBounds.maxMemory": "8Gi",
    "engineResourceBounds.maxEphemeralStorage": "8Gi",
    "engineResourceBounds.maxReplicas": 7,
    "drainSettle": "8s",
    "maxRolling": 5,
    "defaultImages.engine": "x/engine:1",
    "defaultImages.metadata": "x/metadata:1",
    "defaultImages.gateway": "x/gateway:1",
    "defaultImages.postgres": "x/postgres:1",
    "defaultImages.ui": "x/ui:1",
    "logging.development": True,
    "logging.encoder": "console",
    "logging.level": "debug",
    "logging.stacktraceLevel": "panic",
    "additionalArgs": ["--concurrent-passes=4"],
    "additionalEnv": [{"name": "A", "value": "b"}],
    "resources": {"limits": {"memory": "1Gi"}},
    "extraVolumes": [{"name": "x", "emptyDir": {}}],
    "extraVolumeMounts": [{"name": "x", "mountPath": "/x"}],
    "priorityClassName": "high",
    "nodeSelector": {"disk": "ssd"},
    "affinity": {"nodeAffinity": {}},
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}],
    "podDisruptionBudget.create": False,
    "podDisruptionBudget.maxUnavailable": "50%",
    "networkPolicy.enabled": True,
    "networkPolicy.namespaces": ["b"],
    "networkPolicy.clients": PEER,
    "networkPolicy.apiServers": PEER,
    "networkPolicy.prometheus": PEER,
    "networkPolicy.engineClients": PEER,
    "networkPolicy.databaseClients": PEER,
    "monitoring.rules.enabled": True,
    "monitoring.rules.labels": {"team": "data"},
    "monitoring.rules.runbookUrl": "https://example.com/runbooks/",
    "monitoring.dashboard.enabled": True,
    "monitoring.dashboard.labels": {"team": "data"},
    "monitoring.dashboard.annotations": {"folder": "data"},
    "podMonitor.engines.enabled": True,
    "podMonitor.engines.interval": "7s",
    "podMonitor.gateway.enabled": True,
    "podMonitor.gateway.interval": "7s",
    "podMonitor.allNamespaces": False,
    "serviceMonitor.operator.enabled": True,
    "serviceMonitor.operator.interval": "7s",
    "serviceMonitor.operator.bearerTokenSecret.name": "token",
    "serviceMonitor.operator.bearerTokenSecret.key": "t",
    "serviceMonitor.operator.caSecret.name": "another",
    "serviceMonitor.operator.caSecret.key": "c",
}
"""Another value for each; one that is not here fails the first test below."""
BESIDE: dict[str, Mapping[str, Any]] = {
    "podDisruptionBudget": {"replicaCount": 2},
    "networkPolicy": POLICIES,
    "networkPolicy.enabled": {"watchNamespaces": ["a"]},
    "monitoring.rules": {"monitoring": {"rules": {"enabled": True}}},
    "monitoring.rules.enabled": {},
    "monitoring.dashboard": {"monitoring": {"dashboard": {"enabled": True}}},
    "monitoring.dashboard.enabled": {},
    "podMonitor.engines.interval": ENGINES,
    "podMonitor.gateway.interval": GATEWAYS,
    "podMonitor.allNamespaces": ENGINES,
    "serviceMonitor.operator": SCRAPED,
    "serviceMonitor.operator.enabled": {"metrics": {"certSecretName": "cert"}},
    "serviceMonitor.operator.bearerTokenSecret.key": {
        "serviceMonitor": {
            "operator": {"enabled": True, "caSecret": {"name": "ca"}, "bearerTokenSecret": {"name": "token"}}
        }
    },
    "webhook.certManager.issuerRef": ISSUED,
    "webhook.certManager.enabled": {"webhook": {"certManager": {"issuerRef": {"name": "ca"}}}},
}
"""What else must be set for a value to count; by the longest prefix."""
WHOLE = {"podSecurityContext", "resources", "monitoring.dashboard.labels"}  # taken as they are


def leaves(values: Mapping[str, Any], path: str = "") -> Iterator[str]:
    for name, value in values.items():
        inner = f"{path}{name}"
        if isinstance(value, dict) and value and inner not in WHOLE:
            yield from leaves(value, f"{inner}.")
        else:
            yield inner


def test_no_value_is_forgotten_here() -> None:
    assert set(leaves(yaml.load((CHART / "values.yaml").read_text(), yaml.CSafeLoader))) == set(OTHERWISE)


@pytest.mark.parametrize("path", OTHERWISE)
def test_a_changed_value_changes_what_is_installed(path: str) -> None:
    prefixes = sorted((each for each in BESIDE if f"{path}.".startswith(f"{each}.")), key=len)
    beside = BESIDE[prefixes[-1]] if prefixes else {}
    changed = rendered(merged(beside, path.split("."), OTHERWISE[path]))
    assert changed != unchanged(json.dumps(beside))
    parse_settings(arguments(changed), {})


@cache
def unchanged(values: str) -> list[Manifest]:
    return rendered(json.loads(values))


def merged(values: Mapping[str, Any], path: list[str], value: Any) -> dict[str, Any]:
    first, *rest = path
    return {**values, first: merged(values.get(first, {}), rest, value) if rest else value}
