"""The user's template and the operator's fields become one pod template."""

from firebolt_operator.manifests.components import ComponentPod, merged_component_pod
from firebolt_operator.policy.component_rules import GATEWAY
from firebolt_operator.policy.protected_secrets import keeps_volume
from firebolt_operator.refs import Manifest


def ours(**changes: object) -> ComponentPod:
    fields: Manifest = {
        "primary": GATEWAY.primary,
        "labels": {"firebolt.io/instance": "inst"},
        "annotations": {"firebolt.io/config-hash": "0123"},
        "container": {"name": "envoy", "image": "envoy:v1", "imagePullPolicy": "IfNotPresent", "args": ["envoy"]},
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "fields": {"enableServiceLinks": False},
        "keeps_volume": keeps_volume(GATEWAY, {"inst-engine-ca-bundle"}),
        **changes,
    }
    return ComponentPod(**fields)


def merged(template: Manifest | None, pod: ComponentPod | None = None) -> Manifest:
    return merged_component_pod(template, pod or ours())


def test_given_no_template_when_merged_then_the_operators_part_stands_alone() -> None:
    assert merged(None) == {
        "metadata": {
            "labels": {"firebolt.io/instance": "inst"},
            "annotations": {"firebolt.io/config-hash": "0123"},
        },
        "spec": {
            "enableServiceLinks": False,
            "containers": [
                {"name": "envoy", "image": "envoy:v1", "imagePullPolicy": "IfNotPresent", "args": ["envoy"]}
            ],
            "volumes": [{"name": "tmp", "emptyDir": {}}],
        },
    }


def test_given_fields_that_nobody_knows_when_merged_then_they_pass_through() -> None:
    template = {"spec": {"dnsPolicy": "None", "runtimeClassName": "kata", "fieldOfTomorrow": {"a": [1]}}}
    spec = merged(template)["spec"]
    assert spec["dnsPolicy"] == "None"
    assert spec["runtimeClassName"] == "kata"
    assert spec["fieldOfTomorrow"] == {"a": [1]}


def test_given_labels_and_annotations_when_merged_then_ours_win() -> None:
    template = {
        "metadata": {
            "labels": {"team": "data", "firebolt.io/instance": "forged"},
            "annotations": {"note": "x", "firebolt.io/config-hash": "forged"},
        }
    }
    assert merged(template)["metadata"] == {
        "labels": {"team": "data", "firebolt.io/instance": "inst"},
        "annotations": {"note": "x", "firebolt.io/config-hash": "0123"},
    }


def test_given_a_primary_container_when_merged_then_only_image_policy_and_resources_replace_ours() -> None:
    resources = {"limits": {"memory": "1Gi"}}
    user = {"name": "envoy", "image": "mine:v2", "imagePullPolicy": "Always", "resources": resources}
    template = {"spec": {"containers": [{"name": "log-shipper"}, {**user, "args": ["forged"], "fieldOfTomorrow": 1}]}}
    assert merged(template)["spec"]["containers"] == [
        {**user, "args": ["envoy"], "fieldOfTomorrow": 1},
        {"name": "log-shipper"},
    ]


def test_given_an_empty_choice_when_merged_then_the_default_stays() -> None:
    template = {"spec": {"containers": [{"name": "envoy", "image": "", "imagePullPolicy": "", "resources": {}}]}}
    assert merged(template) == merged(None)


def test_given_sidecars_when_merged_then_ours_come_last() -> None:
    template = {"spec": {"containers": [{"name": "b"}, {"name": "a"}], "initContainers": [{"name": "first"}]}}
    spec = merged(template, ours(sidecars=[{"name": "wake-agent"}]))["spec"]
    assert [container["name"] for container in spec["containers"]] == ["envoy", "b", "a", "wake-agent"]
    assert spec["initContainers"] == [{"name": "first"}]


def test_given_user_volumes_when_merged_then_ours_come_first_and_cannot_be_shadowed_or_aliased() -> None:
    volumes = [
        {"name": "cache", "emptyDir": {}},
        {"name": "tmp", "hostPath": {"path": "/"}},
        {"name": "wake-agent-token", "emptyDir": {}},
        {"name": "auth-signing-3", "emptyDir": {}},
        {"name": "stolen", "secret": {"secretName": "inst-engine-ca-bundle"}},
        {"name": "stolen-too", "projected": {"sources": [{"secret": {"name": "x-auth-signing"}}]}},
        {"name": "mine", "secret": {"secretName": "mine"}},
    ]
    assert merged({"spec": {"volumes": volumes}})["spec"]["volumes"] == [
        {"name": "tmp", "emptyDir": {}},
        {"name": "cache", "emptyDir": {}},
        {"name": "mine", "secret": {"secretName": "mine"}},
    ]


def test_given_a_field_of_ours_in_the_template_when_merged_then_ours_is_stamped_on_top() -> None:
    assert merged({"spec": {"enableServiceLinks": True}})["spec"]["enableServiceLinks"] is False


def test_when_merged_then_the_users_template_is_left_as_it_was() -> None:
    template: Manifest = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "envoy"}]}}
    merged(template)
    assert template == {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "envoy"}]}}
