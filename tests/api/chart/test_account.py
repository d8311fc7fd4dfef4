"""Are the chart's rights enough, and not more? The operator runs with its account, refused nothing, and uses all."""

import ssl
import urllib.error
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from firebolt_local.cluster.cert_manager import CertManager
from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.demo import words
from firebolt_local.programs import provision
from firebolt_operator.api.names import LEASE_NAME
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
)
from firebolt_operator.kube.paths import object_path
from firebolt_operator.refs import Ref
from tests.api.chart.installed import SYSTEM, Installed, installed
from tests.support.chart import rendered
from tests.support.kubectl import kubectl

EXAMPLE = words.example("quickstart.yaml")
CLASS = """
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEngineClass
metadata: {name: small}
spec: {template: {}}
"""
SHARED = """
apiVersion: compute.firebolt.io/v1alpha1
kind: FireboltEnginePreset
metadata: {name: firebolt}
spec: {template: {}}
---
apiVersion: compute.firebolt.io/v1alpha1
kind: ClusterFireboltEngineClass
metadata: {name: everywhere}
spec: {template: {}}
"""
NOBODY = '{"spec": {"template": {"spec": {"serviceAccountName": "nobody"}}}}'
SOMEBODY = '{"spec": {"template": null}}'
RETAIN = '{"spec": {"metadata": {"postgresStorage": {"reclaimPolicy": "Retain"}}}}'
DELETE = '{"spec": {"metadata": {"postgresStorage": {"reclaimPolicy": "Delete"}}}}'
RECORDED = r"jsonpath={.metadata.annotations.firebolt\.io/instance-id}"
AUTH = """
{"spec": {"auth": {"enabled": true, "local": {
  "admin": {"password": {"name": "admin", "key": "password"}},
  "signingKeys": {"certManager": {"issuerRef": {"name": "ca", "kind": "Issuer"}}}}}}}
"""
ISSUERS = """
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: bootstrap}
spec: {selfSigned: {}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: tls-ca}
spec:
  isCA: true
  commonName: firebolt-tls
  secretName: tls-ca
  privateKey: {algorithm: ECDSA, size: 384}
  issuerRef: {name: bootstrap}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: ca}
spec: {ca: {secretName: tls-ca}}
"""
TLS = """
{"spec": {"tls": {
  "gateway": {"enabled": true, "certManager": {"issuerRef": {"name": "ca", "kind": "Issuer"}}},
  "engine": {"enabled": true, "certManager": {"issuerRef": {"name": "ca", "kind": "Issuer"}}}}}}
"""
SECURED = ("EngineTLSReady", "GatewayTLSReady", "AuthReady", "Ready")
WITH_CLASS = '{"spec": {"engineClassRef": "small"}}'
PATIENCE = "--timeout=60s"
ENCRYPTED = "jsonpath={.status.engineTLS.reencrypting}=true"
REASON = 'jsonpath={.status.conditions[?(@.type=="Ready")].reason}'
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"
GUARDED_PATHS = (
    object_path(Ref(FIREBOLT_ENGINE_CLASSES, "default", "small")),
    object_path(Ref(FIREBOLT_ENGINE_PRESETS, "default", "firebolt")),
    object_path(Ref(CLUSTER_FIREBOLT_ENGINE_CLASSES, "", "everywhere")),
)
APPLIED = (
    "configmaps",
    "serviceaccounts",
    "services",
    "apps/deployments",
    "apps/statefulsets",
    "cert-manager.io/certificates",
    "policy/poddisruptionbudgets",
    "rbac.authorization.k8s.io/rolebindings",
    "rbac.authorization.k8s.io/roles",
)
UNSEEN = {
    # An apply of what is not there yet is a patch in the log, and needs both rights.
    *(("create", resource) for resource in APPLIED),
    # Handed on to the accounts of gateways.
    *((verb, "discovery.k8s.io/endpointslices") for verb in ("get", "list", "watch")),
    # Asked for where the admission plugin OwnerReferencesPermissionEnforcement is on.
    ("update", "compute.firebolt.io/fireboltengines/finalizers"),
    ("update", "compute.firebolt.io/fireboltinstances/finalizers"),
}
"""Rights that no request in the log shows."""
SOMETIMES = {
    # After a conflict or an answer that got lost; the first is handed on to the accounts of gateways, too.
    ("get", "compute.firebolt.io/fireboltengines"),
    ("get", "compute.firebolt.io/fireboltinstances"),
    ("get", "compute.firebolt.io/fireboltengineclasses"),
    ("get", "compute.firebolt.io/fireboltenginepresets"),
    # A class that is in no cache yet.
    ("get", "compute.firebolt.io/clusterfireboltengineclasses"),
    # Pods of a gateway that still run when their instance goes; simulated ones may be gone by then.
    ("delete", "pods"),
}


"""Rights that a story may do without; whoever takes one out of the chart takes it out here."""

WITHOUT_WEBHOOKS = {
    # With them nothing gets so far that there is anything to warn of.
    ("create", "events.k8s.io/events"),
    # With them a class gets its finalizer when it is written, and is released a minute after its deletion.
    ("patch", "compute.firebolt.io/fireboltengineclasses"),
    ("patch", "compute.firebolt.io/fireboltenginepresets"),
    ("patch", "compute.firebolt.io/clusterfireboltengineclasses"),
}
"""Rights of the same list, which the other story shows to be used."""


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory, built_programs: dict[str, Path]) -> Iterator[ControlPlane]:
    """One for all, whose release is upgraded from values to values: its log is read from where each began."""
    options = Options(folder=tmp_path_factory.mktemp("control-plane"), simulated_pods=True)
    plane = ControlPlane(options, built_programs).start()
    SimulatedPods(plane, built_programs).start()
    program = provision.provide(provision.CERTIFICATES)["cert-manager"]
    folder = tmp_path_factory.mktemp("cert-manager")
    CertManager(http=plane.http, kubeconfig=plane.kubeconfig, program=program, folder=folder).start()
    yield plane
    plane.stop()


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({"drainSettle": "0", "webhook": {"enabled": False}}, id="cluster-wide"),
        pytest.param({"drainSettle": "0", "watchNamespaces": ["default"]}, id="one-namespace-with-webhooks"),
    ],
)
def test_given_the_chart_when_the_operator_does_all_it_can_then_nothing_is_refused(
    plane: ControlPlane, tmp_path: Path, values: dict[str, Any]
) -> None:
    # The story before has left one, and somebody has to make it.
    kubectl(plane.kubeconfig, ["delete", "lease", LEASE_NAME, f"--namespace={SYSTEM}", "--ignore-not-found"])
    with installed(plane, values, tmp_path / "operator.log") as operator:
        has_webhooks = "webhook" not in values
        _live(operator, has_webhooks=has_webhooks)
        _ask_for_metrics(operator)
        _die(operator, has_webhooks=has_webhooks)
        requests = operator.requests()
    assert [request for request in requests if request[2] in {401, 403}] == []
    done = {(verb, resource) for verb, resource, _ in requests}
    unneeded = WITHOUT_WEBHOOKS if has_webhooks else set[tuple[str, str]]()
    rights = granted(values)
    assert rights >= SOMETIMES
    assert rights - done - SOMETIMES - unneeded == UNSEEN


def granted(values: dict[str, Any]) -> set[tuple[str, str]]:
    """Every right of the account, as verb and resource."""
    roles = [each for each in rendered(values, namespace=SYSTEM) if each["kind"] in {"Role", "ClusterRole"}]
    return {
        (verb, "/".join(filter(None, (group, resource))))
        for role in roles
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for verb in rule["verbs"]
    }


def _live(operator: Installed, *, has_webhooks: bool) -> None:
    operator.plane.wait_until(lambda: _is_taken(operator), "somebody judges what is written")
    operator.kubectl("wait", "--for=condition=Ready", PATIENCE, "fireboltinstance/demo", "fireboltengine/analytics")
    operator.kubectl("patch", "fireboltinstance/demo", "--type=merge", "--patch", RETAIN)
    operator.kubectl("wait", f"--for={RECORDED}", PATIENCE, "secret/demo-metadata-postgres-creds")
    operator.kubectl("patch", "fireboltinstance/demo", "--type=merge", "--patch", DELETE)
    operator.kubectl("apply", "-f", "-", stdin=SHARED)
    operator.kubectl("wait", "--for=condition=Ready", PATIENCE, "fireboltenginepreset/firebolt")
    if has_webhooks:
        operator.kubectl("apply", "-f", "-", stdin=CLASS)
    operator.kubectl("patch", "fireboltengine/analytics", "--type=merge", "--patch", WITH_CLASS)
    if not has_webhooks:
        warned = "a word of warning"
        operator.plane.wait_until(lambda: "EngineClassMissing" in operator.plane.http.text("GET", EVENTS)[1], warned)
        operator.kubectl("apply", "-f", "-", stdin=CLASS)
    operator.kubectl("patch", "fireboltengine/analytics", "--type=merge", "--patch", NOBODY)
    # Kubernetes' own word on what fails.
    operator.kubectl("wait", f"--for={REASON}=FailedCreate", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("patch", "fireboltengine/analytics", "--type=merge", "--patch", SOMEBODY)
    operator.kubectl("scale", "fireboltengine/analytics", "--replicas=3")
    operator.kubectl("wait", "--for=jsonpath={.status.readyReplicas}=3", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("wait", "--for=jsonpath={.status.phase}=stable", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("apply", "-f", "-", stdin=ISSUERS)
    operator.kubectl("create", "secret", "generic", "admin", "--from-literal=password=secret")
    operator.kubectl("patch", "fireboltinstance/demo", "--type=merge", "--patch", AUTH)
    operator.kubectl("patch", "fireboltinstance/demo", "--type=merge", "--patch", TLS)
    # Each has a reason of its own where it is not asked for, and is true then as well.
    operator.kubectl("wait", f"--for={ENCRYPTED}", PATIENCE, "fireboltinstance/demo")
    for condition in SECURED:
        operator.kubectl("wait", f"--for=condition={condition}", PATIENCE, "fireboltinstance/demo")
    operator.kubectl("wait", "--for=condition=Ready", PATIENCE, "fireboltengine/analytics")


def _is_taken(operator: Installed) -> bool:
    try:
        operator.kubectl("apply", "-f", str(EXAMPLE))
    except AssertionError:
        return False
    return True


def _die(operator: Installed, *, has_webhooks: bool) -> None:
    operator.kubectl("delete", PATIENCE, "fireboltengine/analytics")
    operator.kubectl("delete", PATIENCE, "fireboltinstance/demo")
    operator.kubectl("delete", "secret/admin", "issuer/bootstrap", "issuer/ca", "certificate/tls-ca")
    operator.kubectl("delete", "--wait=false", "fireboltengineclass/small", "fireboltenginepreset/firebolt")
    operator.kubectl("delete", "--wait=false", "clusterfireboltengineclass/everywhere")
    if not has_webhooks:
        for path in GUARDED_PATHS:
            operator.plane.wait_until(partial(_is_gone, operator, path), f"{path} is gone")


def _is_gone(operator: Installed, path: str) -> bool:
    return operator.plane.http.text("GET", path)[0] == 404


def _ask_for_metrics(operator: Installed) -> None:
    """A stranger with a valid token: the operator has to ask who that is, and whether it may."""
    token = operator.kubectl("create", "token", "default").strip()
    request = urllib.request.Request(
        f"https://127.0.0.1:{operator.metrics_port}/metrics", headers={"Authorization": f"Bearer {token}"}
    )
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(request, context=context, timeout=30)
