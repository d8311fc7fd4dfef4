"""What does the chart render, and what does it refuse?"""

from pathlib import Path
from typing import Any

import pytest
import yaml

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.admission.configurations import is_kept
from firebolt_operator.settings import parse_settings
from tests.support.chart import CHART, CRDS_CHART, RELEASE, arguments, helm, names, only, refusal, rendered

DEFAULT = [
    "ClusterRole firebolt-operator-apiserver-proxy",
    "ClusterRole firebolt-operator-cluster-resources",
    "ClusterRole firebolt-operator-manager",
    "ClusterRole firebolt-operator-metrics-auth",
    "ClusterRole firebolt-operator-webhook",
    "ClusterRoleBinding firebolt-operator-apiserver-proxy",
    "ClusterRoleBinding firebolt-operator-cluster-resources",
    "ClusterRoleBinding firebolt-operator-manager",
    "ClusterRoleBinding firebolt-operator-metrics-auth",
    "ClusterRoleBinding firebolt-operator-webhook",
    "Deployment system firebolt-operator",
    "MutatingWebhookConfiguration firebolt-operator",
    "Role system firebolt-operator-leader-election",
    "Role system firebolt-operator-webhook",
    "RoleBinding system firebolt-operator-leader-election",
    "RoleBinding system firebolt-operator-webhook",
    "Service system firebolt-operator-metrics",
    "Service system firebolt-operator-webhook",
    "ServiceAccount system firebolt-operator",
    "ValidatingAdmissionPolicy firebolt-gateway-accounts",
    "ValidatingAdmissionPolicy firebolt-gateway-wake",
    "ValidatingAdmissionPolicyBinding firebolt-gateway-accounts",
    "ValidatingAdmissionPolicyBinding firebolt-gateway-wake",
    "ValidatingAdmissionPolicyBinding firebolt-gateway-wake-without-list",
    "ValidatingWebhookConfiguration firebolt-operator",
]
CLUSTER_WIDE = [
    name for name in DEFAULT if name.startswith("ClusterRole") and name.endswith(("manager", "apiserver-proxy"))
]
EVERYWHERE = [name for name in DEFAULT if name not in CLUSTER_WIDE]


def without(*words: str) -> list[str]:
    return [name for name in DEFAULT if not any(word in name for word in words)]


@pytest.mark.parametrize("chart", [CHART, CRDS_CHART], ids=["operator", "crds"])
def test_the_linter_has_nothing_to_say(chart: Path) -> None:
    done = helm("lint", "--strict", str(chart))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, DEFAULT, id="default"),
        pytest.param(
            {"watchNamespaces": ["a", "b"]},
            sorted(
                [
                    *EVERYWHERE,
                    *(
                        f"{kind} {namespace} firebolt-operator-{suffix}"
                        for kind in ("Role", "RoleBinding")
                        for namespace in ("a", "b")
                        for suffix in ("manager", "apiserver-proxy")
                    ),
                ]
            ),
            id="a-role-in-each-watched-namespace-and-one-for-what-belongs-to-none",
        ),
        pytest.param({"rbac": {"apiserverProxyGrant": False}}, without("apiserver-proxy"), id="no-proxy"),
        pytest.param({"rbac": {"create": False}}, without("Role"), id="no-rights"),
        pytest.param({"metrics": {"enabled": False}}, without("metrics"), id="no-metrics"),
        pytest.param({"metrics": {"secure": False}}, without("metrics-auth"), id="plain-metrics"),
        pytest.param({"leaderElection": {"enabled": False}}, without("leader-election"), id="no-election"),
        pytest.param({"serviceAccount": {"create": False}}, without("ServiceAccount"), id="an-account-of-yours"),
        pytest.param({"admissionPolicy": {"create": False}}, without("AdmissionPolicy"), id="no-policy"),
        pytest.param({"webhook": {"enabled": False}}, without("webhook", "Webhook"), id="no-webhooks"),
        pytest.param(
            {"webhook": {"certSecretName": "mine"}},
            without(
                "Role firebolt-operator-webhook",
                "Role system firebolt-operator-webhook",
                "Binding firebolt-operator-webhook",
                "Binding system firebolt-operator-webhook",
            ),
            id="a-certificate-of-yours",
        ),
        pytest.param(
            {"webhook": {"mutatingWebhookConfiguration": {"enabled": False}}},
            without("Mutating"),
            id="nothing-filled-in",
        ),
        pytest.param(
            {"replicaCount": 2}, sorted([*DEFAULT, "PodDisruptionBudget system firebolt-operator"]), id="replicas"
        ),
        pytest.param({"replicaCount": 2, "podDisruptionBudget": {"create": False}}, DEFAULT, id="no-budget"),
    ],
)
def test_objects(values: dict[str, Any], expected: list[str]) -> None:
    assert names(rendered(values)) == expected


@pytest.mark.parametrize(
    ("values", "files"),
    [
        pytest.param({}, ["manager-rules", "definition-rules"], id="cluster"),
        pytest.param({"watchNamespaces": ["a"]}, ["manager-rules"], id="namespace"),
    ],
)
def test_rules_are_the_same_in_both_envelopes_but_for_what_no_role_can_grant(
    values: dict[str, Any], files: list[str]
) -> None:
    roles = [each for each in rendered(values) if each["metadata"]["name"] == "firebolt-operator-manager"]
    texts = [(CHART / f"files/{file}.yaml").read_text() for file in files]
    expected = [rule for text in texts for rule in yaml.load(text, yaml.CSafeLoader)]
    assert [role["rules"] for role in roles if "rules" in role] == [expected]


@pytest.mark.parametrize("values", [{}, {"watchNamespaces": ["a"]}], ids=["cluster", "namespace"])
def test_what_belongs_to_no_namespace_is_granted_wherever_the_operator_looks(values: dict[str, Any]) -> None:
    name = "firebolt-operator-cluster-resources"
    (role,) = (each for each in rendered(values) if each["kind"] == "ClusterRole" and each["metadata"]["name"] == name)
    assert role["rules"] == yaml.load((CHART / "files/cluster-rules.yaml").read_text(), yaml.CSafeLoader)


def test_the_operator_understands_every_argument() -> None:
    values = {
        "watchNamespaces": ["a", "b"],
        "watchLabelSelector": "!example.com/managed",
        "engineResourceBounds": {
            "maxCPU": 32,
            "maxMemory": "256Gi",
            "maxEphemeralStorage": "1Ti",
            "maxReplicas": 40,
        },
        "drainSettle": "8s",
        "maxRolling": 5,
        "defaultImages": {"engine": "x/engine:1", "ui": "x/ui:2"},
        "image": {"repository": "x/operator", "tag": "v9", "pullPolicy": "Always"},
    }
    settings = parse_settings(arguments(rendered(values)), {})
    assert settings.leader_elect
    assert settings.namespaces == ("a", "b")
    assert settings.watch_label_selector == "!example.com/managed"
    assert (settings.engine_max_cpu, settings.engine_max_memory) == ("32", "256Gi")
    assert settings.engine_max_replicas == 40
    assert settings.drain_settle.total_seconds() == 8
    assert settings.max_rolling == 5
    assert (settings.images.engine, settings.images.ui) == ("x/engine:1", "x/ui:2")
    assert (settings.images.wake_agent, settings.images.wake_agent_pull_policy) == ("x/operator:v9", "Always")
    assert (settings.metrics.bind_address, settings.metrics.secure) == (":8443", True)


def test_by_default_no_argument_narrows_anything() -> None:
    settings = parse_settings(arguments(rendered({})), {})
    assert (settings.namespaces, settings.watch_label_selector, settings.engine_max_cpu) == ((), "", "")
    assert (settings.engine_max_replicas, settings.max_rolling) == (1000, 0)
    assert settings.drain_settle == parse_settings([], {}).drain_settle
    assert settings.images.wake_agent == "localhost/firebolt-operator:v0.1.0"


def test_additional_arguments_come_last_and_so_win() -> None:
    words = arguments(rendered({"additionalArgs": ["--zap-log-level=debug", "--drain-settle=1s"], "drainSettle": "9s"}))
    assert words[-2:] == ["--zap-log-level=debug", "--drain-settle=1s"]
    assert parse_settings(words, {}).drain_settle.total_seconds() == 1


def test_metrics_that_are_off_are_off_in_the_process_too() -> None:
    assert parse_settings(arguments(rendered({"metrics": {"enabled": False}})), {}).metrics.bind_address == "0"


def test_the_container_can_do_as_little_as_possible() -> None:
    pod = only(rendered({}), "Deployment")["spec"]["template"]["spec"]
    assert pod["securityContext"] == {
        "runAsNonRoot": True,
        "seccompProfile": {"type": "RuntimeDefault"},
        "fsGroup": 65532,
    }
    container = pod["containers"][0]
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["command"] == ["/manager"]
    assert {"volumes", "volumeMounts"} & {*pod, *container} == set()


def test_by_default_the_operator_asks_for_resources_and_is_not_limited() -> None:
    container = only(rendered({}), "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert {"cpu", "memory"} == set(container["resources"]["requests"])
    assert "limits" not in container["resources"]
    none = only(rendered({"resources": {"requests": None}}), "Deployment")["spec"]["template"]["spec"]["containers"][0]
    assert "resources" not in none


@pytest.mark.parametrize("most", [2, "50%"])
def test_a_drained_node_takes_a_part_of_the_replicas(most: int | str) -> None:
    manifests = rendered({"replicaCount": 3, "podDisruptionBudget": {"maxUnavailable": most}})
    budget = only(manifests, "PodDisruptionBudget")["spec"]
    assert budget["maxUnavailable"] == most
    assert budget["selector"] == only(manifests, "Deployment")["spec"]["selector"]


@pytest.mark.parametrize(
    ("release", "values", "expected"),
    [
        pytest.param("firebolt-operator", {}, "firebolt-operator", id="release-says-it-all"),
        pytest.param("prod", {}, "prod-firebolt-operator", id="release-first"),
        pytest.param("prod", {"nameOverride": "fb"}, "prod-fb", id="name"),
        pytest.param("prod", {"fullnameOverride": "x" * 62 + "-y"}, "x" * 62, id="cut-without-a-dash-at-the-end"),
    ],
)
def test_full_name(release: str, values: dict[str, Any], expected: str) -> None:
    assert only(rendered(values, release=release), "Deployment")["metadata"]["name"] == expected


def test_labels_and_annotations_of_yours_are_on_objects_and_not_on_pods() -> None:
    values = {
        "extraLabels": {"team": "data"},
        "extraAnnotations": {"note": "text"},
        "podLabels": {"pod": "p"},
        "serviceAccount": {"annotations": {"role": "arn"}},
    }
    everything = {"replicaCount": 2, "networkPolicy": {"enabled": True, "namespaces": ["a"]}}
    manifests = rendered(values | everything)
    assert {each["metadata"]["labels"]["team"] for each in manifests} == {"data"}
    assert {each["metadata"]["labels"]["app.kubernetes.io/managed-by"] for each in manifests} == {"Helm"}
    # Webhook configurations have annotations of their own, which put CAs into them.
    plain = [each for each in manifests if "WebhookConfiguration" not in each["kind"]]
    assert {each["metadata"]["annotations"]["note"] for each in plain} == {"text"}
    assert only(manifests, "ServiceAccount")["metadata"]["annotations"] == {"note": "text", "role": "arn"}
    pod = only(manifests, "Deployment")["spec"]["template"]["metadata"]
    assert (pod["labels"]["pod"], "team" in pod["labels"]) == ("p", False)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        pytest.param({"webhook": {"certManager": {"enabled": True}}}, "issuerRef.name", id="no-issuer"),
        pytest.param({"webhook": {"certSecret": "x"}}, "certSecret", id="misspelt-webhook"),
        pytest.param({"replicaCount": 2, "leaderElection": {"enabled": False}}, "leaderElection", id="two-leaders"),
        pytest.param({"replicaCount": 0}, "replicaCount", id="no-replicas"),
        pytest.param({"image": {"pullPolicy": "Sometimes"}}, "pullPolicy", id="pull-policy"),
        pytest.param({"watchNamespaces": [""]}, "watchNamespaces", id="nameless-namespace"),
        pytest.param({"drainSettle": "soon"}, "drainSettle", id="no-duration"),
        pytest.param({"logging": {"level": "chatty"}}, "level", id="log-level"),
        pytest.param({"defaultImages": {"envoy": "x"}}, "defaultImages", id="unknown-image"),
        pytest.param({"watchNamespace": ["a"]}, "watchNamespace", id="misspelt"),
        pytest.param({"rbac": {"creat": False}}, "creat", id="misspelt-inside"),
        pytest.param(
            {"serviceMonitor": {"operator": {"bearerTokenSecret": {"nam": "x"}}}}, "nam", id="misspelt-far-inside"
        ),
        pytest.param({"podDisruptionBudget": {"maxUnavailable": 0}}, "maxUnavailable", id="undrainable"),
        pytest.param({"podDisruptionBudget": {"maxUnavailable": "half"}}, "maxUnavailable", id="no-share"),
        pytest.param({"image": {"digest": "0123"}}, "digest", id="no-digest"),
        pytest.param({"serviceMonitor": {"operator": {"enabled": True}}}, "certSecretName", id="no-ca"),
    ],
)
def test_refused_values(values: dict[str, Any], said: str) -> None:
    assert said in refusal(values)


@pytest.mark.parametrize(
    ("values", "account"),
    [
        pytest.param({}, "firebolt-operator", id="default"),
        pytest.param({"serviceAccount": {"create": False, "name": "ours"}}, "ours", id="an-account-of-yours"),
    ],
)
def test_the_policy_and_the_operator_know_the_operators_account(values: dict[str, Any], account: str) -> None:
    manifests = rendered(values, namespace="somewhere")
    policies = [each for each in manifests if each["kind"] == "ValidatingAdmissionPolicy"]
    (policy,) = (each for each in policies if "paramKind" in each["spec"])
    exemption = policy["spec"]["matchConditions"][0]
    assert exemption["name"] == "is-not-the-operator"
    assert exemption["expression"] == f"request.userInfo.username != 'system:serviceaccount:somewhere:{account}'"
    assert parse_settings(arguments(manifests), {}).operator_account == f"somewhere/{account}"


def test_the_operator_makes_its_own_certificate_unless_told_where_one_is() -> None:
    own = parse_settings(arguments(rendered({})), {}).webhooks
    assert own is not None
    assert (own.secret, own.configuration) == (("system", "firebolt-operator-webhook-certificate"), "firebolt-operator")
    assert own.names == ("firebolt-operator-webhook.system.svc",)
    manifests = rendered({"webhook": {"certManager": {"enabled": True, "issuerRef": {"name": "ca"}}}})
    pod = only(manifests, "Deployment")["spec"]["template"]["spec"]
    (mount,) = pod["containers"][0]["volumeMounts"]
    issued = parse_settings(arguments(manifests), {}).webhooks
    assert issued is not None
    assert issued.cert_path == mount["mountPath"]
    certificate = only(manifests, "Certificate")["spec"]
    assert certificate["dnsNames"] == list(own.names)
    assert pod["volumes"][0]["secret"]["secretName"] == certificate["secretName"]
    annotations = only(manifests, "ValidatingWebhookConfiguration")["metadata"]["annotations"]
    assert annotations == {"cert-manager.io/inject-ca-from": f"system/{certificate['secretName']}"}
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        assert is_kept(only(rendered({}), kind))
        assert not is_kept(only(manifests, kind))
        assert not is_kept(only(rendered({"webhook": {"certSecretName": "mine"}}), kind))


def test_a_pod_that_answers_reviews_stays_until_another_one_can_and_then_has_ten_seconds_to_end() -> None:
    judging, silent = (
        only(rendered({"webhook": {"enabled": enabled}}), "Deployment")["spec"]["template"]["spec"]
        for enabled in (True, False)
    )
    stays = judging["containers"][0]["lifecycle"]["preStop"]["sleep"]["seconds"]
    readiness = judging["containers"][0]["readinessProbe"]
    assert stays >= readiness["initialDelaySeconds"] + readiness["periodSeconds"]
    assert judging["terminationGracePeriodSeconds"] - stays == silent["terminationGracePeriodSeconds"] == 10
    assert "lifecycle" not in silent["containers"][0]


def test_webhooks_of_one_team_ask_about_its_namespaces_only() -> None:
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        for webhook in only(rendered({"watchNamespaces": ["a"]}), kind)["webhooks"]:
            (expression,) = webhook["namespaceSelector"]["matchExpressions"]
            assert (expression["key"], expression["values"]) == ("kubernetes.io/metadata.name", ["a"])
        assert all("namespaceSelector" not in webhook for webhook in only(rendered({}), kind)["webhooks"])


def test_resources_may_be_numbers() -> None:
    resources = {"limits": {"cpu": 1, "memory": "256Mi"}, "requests": {"cpu": 0.5, "memory": 134217728}}
    pod = only(rendered({"resources": resources}), "Deployment")["spec"]["template"]["spec"]
    assert pod["containers"][0]["resources"] == resources


def test_monitors_come_when_asked_for() -> None:
    operator = {"enabled": True, "bearerTokenSecret": {"name": "scraper"}}
    values = {
        "podMonitor": {"engines": {"enabled": True}, "gateway": {"enabled": True}, "allNamespaces": True},
        "serviceMonitor": {"operator": operator},
        "metrics": {"certSecretName": "cert"},
    }
    manifests = rendered(values)
    monitors = [each for each in manifests if each["kind"].endswith("Monitor")]
    assert sorted(each["metadata"]["name"].removeprefix("firebolt-operator-") for each in monitors) == [
        "engines", "gateway", "operator",
    ]  # fmt: skip
    (endpoint,) = only(manifests, "ServiceMonitor")["spec"]["endpoints"]
    assert (endpoint["port"], endpoint["scheme"]) == ("https", "https")
    assert endpoint["authorization"]["credentials"] == {"name": "scraper", "key": "token"}


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, {"any": True}, id="everywhere"),
        pytest.param({"watchNamespaces": ["a", "b"]}, {"matchNames": ["a", "b"]}, id="where-the-operator-looks"),
        pytest.param({"podMonitor": {"allNamespaces": False}}, None, id="beside-the-operator"),
    ],
)
def test_monitors_find_pods_in_every_namespace_of_the_operator(values: dict[str, Any], expected: object) -> None:
    switched = values.get("podMonitor", {}) | {"engines": {"enabled": True}, "gateway": {"enabled": True}}
    monitors = [each for each in rendered(values | {"podMonitor": switched}) if each["kind"] == "PodMonitor"]
    assert [each["spec"].get("namespaceSelector") for each in monitors] == [expected, expected]


SCRAPED = {"serviceMonitor": {"operator": {"enabled": True}}}


@pytest.mark.parametrize(
    ("values", "ca"),
    [
        pytest.param({"metrics": {"certSecretName": "cert"}}, {"name": "cert", "key": "ca.crt"}, id="beside-the-key"),
        pytest.param(
            {"serviceMonitor": {"operator": {"enabled": True, "caSecret": {"name": "root", "key": "ca"}}}},
            {"name": "root", "key": "ca"},
            id="of-its-own",
        ),
    ],
)
def test_secure_metrics_are_verified(values: dict[str, Any], ca: dict[str, str]) -> None:
    (endpoint,) = only(rendered({**SCRAPED, **values}), "ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["tlsConfig"] == {"serverName": "firebolt-operator-metrics.system.svc", "ca": {"secret": ca}}


def test_plain_metrics_need_no_ca() -> None:
    (endpoint,) = only(rendered({**SCRAPED, "metrics": {"secure": False}}), "ServiceMonitor")["spec"]["endpoints"]
    assert "tlsConfig" not in endpoint


def test_the_operator_shows_the_certificate_of_the_secret() -> None:
    manifests = rendered({"metrics": {"certSecretName": "cert"}, "extraVolumes": [{"name": "x", "emptyDir": {}}]})
    pod = only(manifests, "Deployment")["spec"]["template"]["spec"]
    (mount,) = pod["containers"][0]["volumeMounts"]
    assert parse_settings(arguments(manifests), {}).metrics.cert_path == mount["mountPath"]
    assert [volume["name"] for volume in pod["volumes"]] == [mount["name"], "x"]
    assert pod["volumes"][0]["secret"] == {"secretName": "cert", "defaultMode": 0o440}


DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("tag", "expected"),
    [pytest.param("", f"x/op@{DIGEST}", id="alone"), pytest.param("v9", f"x/op:v9@{DIGEST}", id="beside-a-tag")],
)
def test_images_by_digest(tag: str, expected: str) -> None:
    images = {"engine": f"x/engine@{DIGEST}", "postgres": f"host:5000/pg:16@{DIGEST}"}
    values = {"image": {"repository": "x/op", "tag": tag, "digest": DIGEST}, "defaultImages": images}
    manifests = rendered(values)
    assert only(manifests, "Deployment")["spec"]["template"]["spec"]["containers"][0]["image"] == expected
    settings = parse_settings(arguments(manifests), {})
    assert settings.images.wake_agent == expected
    assert {"engine": settings.images.engine, "postgres": settings.images.postgres} == images


def notes(plane: ControlPlane, values: dict[str, Any]) -> str:
    """What people read after an installation."""
    words = ("install", RELEASE, str(CHART), "--namespace", "system", "--dry-run=client", "--skip-crds")
    done = helm(*words, "--kubeconfig", str(plane.kubeconfig), values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout.partition("NOTES:")[2]


def test_notes_say_what_is_missing_and_where_mistakes_are_told(control_plane: ControlPlane) -> None:
    quiet = notes(control_plane, {"image": {"repository": "registry.example/op"}})
    assert "rollout status deployment/firebolt-operator" in quiet
    assert "registry" not in quiet
    assert "localhost/firebolt-operator:v0.1.0, which no registry has" in notes(control_plane, {})
    told = notes(control_plane, {"webhook": {"enabled": False}, "engineResourceBounds": {"maxCPU": 4}})
    assert "TemplateRejected on an engine or an instance" in told
    assert "OperatorOwnedFieldSet on a class and FireboltEngineClassUnready on its engines" in told
    assert "cpu 4, memory <unset>, ephemeral-storage <unset>" in told
    assert "webhooks are off" not in quiet


def test_kubernetes_that_is_too_old_is_refused() -> None:
    done = helm("template", RELEASE, str(CHART), "--kube-version", "1.29.9")
    assert done.returncode != 0
    assert "1.30" in done.stderr
    assert helm("template", RELEASE, str(CHART), "--kube-version", "1.30.0").returncode == 0
