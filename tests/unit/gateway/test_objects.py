"""Which Kubernetes objects does a gateway consist of?"""

from typing import Any

import pytest

from firebolt_operator.gateway.inputs import GatewayTLS
from firebolt_operator.gateway.objects import gateway_objects
from firebolt_operator.gateway.rbac import gateway_accounts
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest
from tests.support.gateways import AGENT_IMAGE, all_objects, an_instance, gateway_inputs

LABELS = {"firebolt.io/instance": "inst", "firebolt.io/component": "gateway"}
OWNER = {
    "apiVersion": "compute.firebolt.io/v1alpha1",
    "kind": "FireboltInstance",
    "name": "inst",
    "uid": "0b5f-uid",
    "controller": True,
    "blockOwnerDeletion": True,
}


def metadata(name: str) -> Manifest:
    return {"name": name, "namespace": "ns", "labels": LABELS, "ownerReferences": [OWNER]}


def pod(template: Manifest | None = None, *, wake: bool = True) -> Manifest:
    objects = gateway_objects(gateway_inputs(an_instance(template=template), wake=wake))
    spec: Manifest = objects.deployment["spec"]["template"]["spec"]
    return spec


def container(spec: Manifest, name: str) -> Manifest:
    return next(each for each in spec["containers"] if each["name"] == name)


def test_when_rendered_then_these_are_the_objects() -> None:
    objects = all_objects(gateway_objects(gateway_inputs(wake=True)))
    assert [(each["kind"], each["metadata"]["name"]) for each in objects] == [
        ("ServiceAccount", "inst-gateway"),
        ("Role", "inst-gateway"),
        ("RoleBinding", "inst-gateway"),
        ("ConfigMap", "inst-gateway-config"),
        ("Deployment", "inst-gateway"),
        ("Service", "inst-gateway"),
        ("PodDisruptionBudget", "inst-gateway"),
    ]
    assert [each["metadata"] for each in objects] == [metadata(each["metadata"]["name"]) for each in objects]


def test_given_no_agent_when_rendered_then_the_account_has_no_rights() -> None:
    identity = gateway_objects(gateway_inputs(wake=False)).identity
    assert [each["kind"] for each in identity] == ["ServiceAccount"]


def test_when_rendered_then_the_role_grants_waking_and_watching_only() -> None:
    account, role, binding = gateway_objects(gateway_inputs(wake=True)).identity
    assert account == {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata("inst-gateway")}
    assert role["rules"] == [
        {"apiGroups": ["compute.firebolt.io"], "resources": ["fireboltengines"], "verbs": ["get", "list", "patch"]},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": ["get", "list", "watch"]},
    ]
    assert binding["subjects"] == [{"kind": "ServiceAccount", "name": "inst-gateway", "namespace": "ns"}]
    assert binding["roleRef"] == {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "Role",
        "name": "inst-gateway",
    }


def test_given_pods_that_may_leave_for_longer_than_a_deleted_instance_waits_then_they_may_read_that_instance() -> None:
    for drain_timeout, granted in (("60s", []), ("61s", [["inst"]])):
        _, role, _ = gateway_objects(gateway_inputs(an_instance(drain_timeout=drain_timeout), wake=True)).identity
        found = [rule for rule in role["rules"] if rule["resources"] == ["fireboltinstances"]]
        assert [rule["resourceNames"] for rule in found] == granted
        assert all(rule["verbs"] == ["get"] for rule in found)


@pytest.mark.parametrize(
    ("account", "accounts"),
    [
        pytest.param("", "inst-gateway\n", id="the-operators"),
        pytest.param("mine", "inst-gateway\nmine\n", id="the-users-own"),
        pytest.param("inst-gateway", "inst-gateway\n", id="the-users-own-under-our-name"),
    ],
)
def test_given_an_account_when_rendered_then_it_is_listed_for_the_policy(account: str, accounts: str) -> None:
    template = {"spec": {"serviceAccountName": account}} if account else None
    listed = gateway_accounts(gateway_inputs(an_instance(template=template)))
    assert listed == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            **metadata("inst-gateway-accounts"),
            "labels": {**LABELS, "firebolt.io/policy-parameter": "gateway-accounts"},
        },
        "data": {"accounts": accounts},
    }


def test_when_rendered_then_service_and_budget_select_the_gateways_pods() -> None:
    objects = gateway_objects(gateway_inputs())
    assert objects.service["spec"] == {
        "type": "ClusterIP",
        "selector": LABELS,
        "ports": [{"name": "http", "port": 80, "targetPort": 8080, "protocol": "TCP"}],
    }
    assert objects.disruption_budget["spec"] == {"maxUnavailable": 1, "selector": {"matchLabels": LABELS}}


@pytest.mark.parametrize(("replicas", "expected"), [(None, 2), (0, 0), (1, 1), (7, 7)])
def test_given_replicas_when_rendered_then_two_is_only_the_default(replicas: int | None, expected: int) -> None:
    objects = gateway_objects(gateway_inputs(an_instance(replicas=replicas)))
    assert objects.deployment["spec"]["replicas"] == expected


def test_when_rendered_then_a_rollout_keeps_full_capacity() -> None:
    spec = gateway_objects(gateway_inputs()).deployment["spec"]
    assert spec["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": "25%"}}
    assert spec["selector"] == {"matchLabels": LABELS}


def test_when_rendered_then_the_envoy_container_is_hardened_and_probed_on_the_metrics_port() -> None:
    envoy = container(pod(), "envoy")
    assert envoy["image"] == "envoyproxy/envoy:v1.37.2"
    assert envoy["imagePullPolicy"] == "IfNotPresent"
    assert envoy["args"] == ["envoy", "-c", "/etc/envoy/envoy.yaml"]
    assert "command" not in envoy
    assert "resources" not in envoy
    assert envoy["securityContext"] == {
        "runAsUser": 101,
        "runAsNonRoot": True,
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    healthz = {"path": "/healthz", "port": "metrics", "scheme": "HTTP"}
    assert envoy["livenessProbe"] == {
        "httpGet": healthz,
        "initialDelaySeconds": 1,
        "periodSeconds": 15,
        "timeoutSeconds": 3,
    }
    assert envoy["readinessProbe"] == {
        "httpGet": healthz,
        "initialDelaySeconds": 1,
        "periodSeconds": 2,
        "timeoutSeconds": 2,
        "failureThreshold": 2,
    }
    assert envoy["lifecycle"]["preStop"]["exec"]["command"][:2] == ["bash", "-c"]


def test_given_a_metrics_port_when_rendered_then_container_and_configuration_agree() -> None:
    objects = gateway_objects(gateway_inputs(an_instance(metrics_port=19090)))
    envoy = container(objects.deployment["spec"]["template"]["spec"], "envoy")
    assert envoy["ports"][1] == {"name": "metrics", "containerPort": 19090, "protocol": "TCP"}
    assert "port_value: 19090" in objects.config_map["data"]["envoy.yaml"]


def test_given_wake_when_rendered_then_the_agent_comes_last_and_alone_holds_the_token() -> None:
    spec = pod({"spec": {"containers": [{"name": "logs"}]}})
    assert [each["name"] for each in spec["containers"]] == ["envoy", "logs", "wake-agent"]
    agent = container(spec, "wake-agent")
    assert agent == {
        "name": "wake-agent",
        "image": AGENT_IMAGE,
        "args": [
            "wake-agent",
            "--hold-port=9902",
            "--metrics-port=9903",
            "--envoy-admin-url=http://127.0.0.1:9901",
            "--per-hold-bytes=2097152",
            "--hold-timeout=2m0s",
            "--drain-timeout=15s",
        ],
        "env": [{"name": "POD_NAMESPACE", "valueFrom": {"fieldRef": {"fieldPath": "metadata.namespace"}}}],
        "ports": [{"name": "wake-metrics", "containerPort": 9903, "protocol": "TCP"}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "128Mi"}},
        "securityContext": {**container(spec, "envoy")["securityContext"], "runAsUser": 65532},
        "volumeMounts": [
            {
                "name": "wake-agent-token",
                "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount",
                "readOnly": True,
            }
        ],
    }
    mounting = [each["name"] for each in spec["containers"] if "wake-agent-token" in str(each.get("volumeMounts"))]
    assert mounting == ["wake-agent"]


def test_given_a_pull_policy_for_the_agent_when_rendered_then_it_is_copied() -> None:
    objects = gateway_objects(gateway_inputs(wake=True, wake_agent_pull_policy="Never"))
    spec = objects.deployment["spec"]["template"]["spec"]
    assert container(spec, "wake-agent")["imagePullPolicy"] == "Never"


def test_given_a_memory_limit_on_envoy_when_rendered_then_the_agent_learns_it() -> None:
    resources = {"limits": {"memory": "1Gi"}}
    spec = pod({"spec": {"containers": [{"name": "envoy", "resources": resources}]}})
    reference = {"containerName": "envoy", "resource": "limits.memory"}
    assert container(spec, "wake-agent")["env"][1:] == [
        {"name": "ENVOY_MEMORY_LIMIT_BYTES", "valueFrom": {"resourceFieldRef": reference}}
    ]


def test_given_no_wake_when_rendered_then_neither_agent_nor_token_exist() -> None:
    spec = pod(wake=False)
    assert [each["name"] for each in spec["containers"]] == ["envoy"]
    assert [each["name"] for each in spec["volumes"]] == ["config-volume", "tmp"]


@pytest.mark.parametrize(
    ("keys", "items"),
    [
        pytest.param((), {}, id="all-keys"),
        pytest.param(("ca.crt",), {"items": [{"key": "ca.crt", "path": "ca.crt"}]}, id="one-key"),
    ],
)
def test_given_a_secret_of_the_operators_then_envoy_gets_the_keys_that_are_named(
    keys: tuple[str, ...], items: Manifest
) -> None:
    mount = SecretMount(volume="engine-ca", secret="bundle", path="/etc/envoy/tls/engine-ca", keys=keys)
    spec = gateway_objects(gateway_inputs(tls=GatewayTLS(mounts=(mount,)))).deployment["spec"]["template"]["spec"]
    (volume,) = [each for each in spec["volumes"] if each["name"] == "engine-ca"]
    assert volume["secret"] == {"secretName": "bundle", **items}


def test_when_rendered_then_volumes_come_in_order_and_users_last() -> None:
    tls = GatewayTLS(
        mounts=(SecretMount(volume="engine-ca", secret="bundle", path="/etc/envoy/tls/engine-ca", keys=("ca.crt",)),)
    )
    template = {"spec": {"volumes": [{"name": "mine", "emptyDir": {}}]}}
    objects = gateway_objects(gateway_inputs(an_instance(template=template), wake=True, tls=tls))
    spec = objects.deployment["spec"]["template"]["spec"]
    assert [each["name"] for each in spec["volumes"]] == [
        "config-volume",
        "tmp",
        "engine-ca",
        "wake-agent-token",
        "mine",
    ]
    assert spec["volumes"][0]["configMap"] == {
        "name": "inst-gateway-config",
        "items": [{"key": "envoy.yaml", "path": "envoy.yaml"}],
    }
    assert spec["volumes"][2]["secret"] == {"secretName": "bundle", "items": [{"key": "ca.crt", "path": "ca.crt"}]}
    assert container(spec, "envoy")["volumeMounts"][2] == {
        "name": "engine-ca",
        "mountPath": "/etc/envoy/tls/engine-ca",
        "readOnly": True,
    }


def test_given_no_account_of_the_users_when_rendered_then_no_token_is_mounted_by_default() -> None:
    spec = pod()
    assert spec["serviceAccountName"] == "inst-gateway"
    assert spec["automountServiceAccountToken"] is False
    assert spec["enableServiceLinks"] is False
    assert spec["terminationGracePeriodSeconds"] == 15


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        pytest.param({"serviceAccountName": "mine"}, False, id="none-by-default"),
        pytest.param({"serviceAccountName": "mine", "automountServiceAccountToken": True}, True, id="true-is-kept"),
        pytest.param({"serviceAccountName": "mine", "automountServiceAccountToken": False}, False, id="false-is-kept"),
    ],
)
def test_given_an_account_of_the_users_when_rendered_then_identity_is_theirs_and_wake_stays(
    users: Manifest, expected: bool
) -> None:
    objects = gateway_objects(gateway_inputs(an_instance(template={"spec": users}), wake=True))
    spec = objects.deployment["spec"]["template"]["spec"]
    assert objects.identity == ()
    assert all_objects(objects)[0]["kind"] == "ConfigMap"
    assert spec["serviceAccountName"] == "mine"
    assert spec["automountServiceAccountToken"] is expected
    token = {each["name"] for each in spec["volumes"] if "serviceAccountToken" in str(each)}
    assert token == {"wake-agent-token"}
    mounts = {each["name"]: {mount["name"] for mount in each["volumeMounts"]} & token for each in spec["containers"]}
    assert mounts == {"envoy": set(), "wake-agent": token}
    assert "wake_agent" in objects.config_map["data"]["envoy.yaml"]


def test_when_the_configuration_changes_then_so_does_the_hash_on_the_pods() -> None:
    plain, wake = gateway_objects(gateway_inputs()), gateway_objects(gateway_inputs(wake=True))
    assert plain.config_hash != wake.config_hash
    assert len(plain.config_hash) == 16
    annotations = plain.deployment["spec"]["template"]["metadata"]["annotations"]
    assert annotations == {"firebolt.io/config-hash": plain.config_hash}


def test_when_a_mounted_secret_changes_then_so_does_the_hash() -> None:
    hashes = {
        gateway_objects(gateway_inputs(tls=GatewayTLS(revisions=revisions))).config_hash
        for revisions in ((), ("cert=1",), ("cert=2",), ("cert=1", "ca=1"))
    }
    assert len(hashes) == 4
    plain = gateway_objects(gateway_inputs())
    assert plain.config_hash == content_hash(plain.config_map["data"]["envoy.yaml"])  # or TLS would roll all others


def test_given_a_template_when_rendered_then_only_the_pods_change_and_not_the_configuration() -> None:
    template = {"metadata": {"annotations": {"team": "data"}}, "spec": {"dnsPolicy": "Default"}}
    plain = gateway_objects(gateway_inputs())
    changed = gateway_objects(gateway_inputs(an_instance(template=template)))
    assert changed.config_map == plain.config_map
    assert changed.deployment["spec"]["template"]["spec"]["dnsPolicy"] == "Default"
    assert changed.deployment["spec"]["template"]["metadata"]["annotations"]["team"] == "data"


def test_given_times_when_rendered_then_pod_hook_agent_and_script_all_follow() -> None:
    instance = an_instance(hold_timeout="90s", drain_timeout="2m")
    objects = gateway_objects(gateway_inputs(instance, wake=True))
    spec = objects.deployment["spec"]["template"]["spec"]
    assert spec["terminationGracePeriodSeconds"] == 120
    times = ["--hold-timeout=1m30s", "--drain-timeout=120s"]
    assert container(spec, "wake-agent")["args"][-3:] == [*times, "--instance=inst"]
    [shell, option, script] = container(spec, "envoy")["lifecycle"]["preStop"]["exec"]["command"]
    assert (shell, option, script.splitlines()[0]) == ("bash", "-c", "GRACE_SECONDS=120")
    assert "local HOLD_TIMEOUT_MS = 95000\n" in objects.config_map["data"]["envoy.yaml"]


@pytest.mark.parametrize(("drain", "grace"), [("15s", 15), ("15.001s", 16), ("24h", 86_400)])
def test_given_a_fraction_of_a_second_when_rendered_then_grace_is_not_shorter(drain: str, grace: int) -> None:
    objects = gateway_objects(gateway_inputs(an_instance(drain_timeout=drain)))
    assert objects.deployment["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] == grace


def test_given_other_words_for_the_same_times_when_rendered_then_nothing_rolls() -> None:
    words = an_instance(hold_timeout="2m", drain_timeout="0.25m")
    assert gateway_objects(gateway_inputs(words, wake=True)) == gateway_objects(gateway_inputs(wake=True))


@pytest.mark.parametrize("times", [{"hold_timeout": "3m"}, {"drain_timeout": "3m"}])
def test_given_another_time_when_rendered_then_the_pods_roll(times: dict[str, str]) -> None:
    def template(**gateway: Any) -> Manifest:
        objects = gateway_objects(gateway_inputs(an_instance(**gateway), wake=True))
        found: Manifest = objects.deployment["spec"]["template"]
        return found

    assert template(**times) != template()
