"""One pod template against another: what counts, and how it is put in words."""

from typing import Any

import pytest

from firebolt_operator.engine.render.drift.comparison import Comparison, Difference, Element
from firebolt_operator.refs import Manifest


def difference(wanted: Manifest, live: Manifest) -> str | None:
    found = Comparison(excuse=lambda _: False).objects(wanted, live, ("spec",))
    return None if found is None else str(found)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param({"nodeName": ""}, {}, id="an-empty-string"),
        pytest.param({"affinity": {"nodeAffinity": {}}}, {}, id="objects-of-nothing"),
        pytest.param({"tolerations": []}, {"tolerations": None}, id="an-empty-list"),
        pytest.param({"dnsPolicy": "ClusterFirst"}, {}, id="a-default"),
        pytest.param({"overhead": {"cpu": "0.5"}}, {"overhead": {"cpu": "500m"}}, id="an-amount-written-differently"),
        pytest.param({"overhead": {"cpu": 2}}, {"overhead": {"cpu": "2"}}, id="an-amount-as-a-number"),
        pytest.param({"overhead": {"cpu": "0.0001"}}, {"overhead": {"cpu": "1m"}}, id="amounts-are-rounded-up"),
        pytest.param(
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1024Mi"}}]},
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1Gi"}}]},
            id="a-limit-written-differently",
        ),
        pytest.param(
            {"containers": [{"image": "x", "imagePullPolicy": "Always"}]},
            {"containers": [{"image": "x"}]},
            id="pull-policy",
        ),
        pytest.param(
            {"volumes": [{"name": "v"}]}, {"volumes": [{"name": "v", "emptyDir": {}}]}, id="no-source-is-emptyDir"
        ),
        pytest.param(
            {"volumes": [{"name": "v", "image": {"reference": "x:1"}}]},
            {"volumes": [{"name": "v", "image": {"reference": "x:1", "pullPolicy": "IfNotPresent"}}]},
            id="pull-policy-of-a-volume",
        ),
        pytest.param(
            {"containers": [{"ports": [{"containerPort": 1, "name": ""}]}]},
            {"containers": [{"ports": [{"containerPort": 1}]}]},
            id="an-empty-name",
        ),
    ],
)
def test_given_two_ways_to_say_the_same_then_there_is_no_difference(one: Manifest, other: Manifest) -> None:
    assert difference(one, other) is None
    assert difference(other, one) is None


@pytest.mark.parametrize(
    ("wanted", "live", "words"),
    [
        ({"nodeName": "a"}, {"nodeName": "b"}, "spec.nodeName: live b, wanted a"),
        ({"nodeSelector": {"a": "1"}}, {"nodeSelector": {"a": "1.0"}}, "spec.nodeSelector.a: live 1.0, wanted 1"),
        ({"nodeName": "a"}, {}, "spec.nodeName: live nothing, wanted a"),
        ({}, {"nodeName": "b"}, "spec.nodeName: live b, wanted nothing"),
        ({"nodeName": "a"}, {"nodeName": ""}, "spec.nodeName: live nothing, wanted a"),
        ({"priority": 0}, {}, "spec.priority: live nothing, wanted 0"),
        ({"automountServiceAccountToken": False}, {}, "spec.automountServiceAccountToken: live nothing, wanted False"),
        (
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"name": "b"}]},
            "spec.containers: live ['b'], wanted ['a', 'b']",
        ),
        (
            {"containers": [{"name": "a"}, {"name": "b"}]},
            {"containers": [{"name": "b"}, {"name": "a"}]},
            "spec.containers: live ['b', 'a'], wanted ['a', 'b']",
        ),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{}, {}]}, "spec.tolerations: live [0, 1], wanted [0]"),
        ({"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "b"}]}, "spec.tolerations[0].key: live b, wanted a"),
        ({"overhead": {"cpu": "1"}}, {"overhead": {"cpu": "1001m"}}, "spec.overhead.cpu: live 1001m, wanted 1"),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "1100u"}}]},
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": "2m"}}]},
            "spec.volumes[v].emptyDir.sizeLimit: live 2m, wanted 1100u",  # only resources are rounded
        ),
        ({"overhead": {"cpu": "x"}}, {"overhead": {"cpu": "1"}}, "spec.overhead.cpu: live 1, wanted x"),
        (
            {"volumes": [{"name": "v", "downwardAPI": {}}]},
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            "spec.volumes[v].downwardAPI: live nothing, wanted []",
        ),
        (
            {"volumes": [{"name": "v", "emptyDir": {"sizeLimit": 0}}]},
            {"volumes": [{"name": "v", "emptyDir": {}}]},
            "spec.volumes[v].emptyDir.sizeLimit: live nothing, wanted 0",
        ),
        ({"nodeSelector": {"a": ""}}, {"nodeSelector": {}}, "spec.nodeSelector.a: live nothing, wanted "),
        ({"labelSelector": {}}, {}, "spec.labelSelector: live nothing, wanted []"),
        ({"storageClassName": ""}, {}, "spec.storageClassName: live nothing, wanted "),
        ({"env": {"value": "x"}}, {"env": {"value": "y"}}, "spec.env.value: live differs from wanted"),
        (
            {"containers": [{"name": "a", "command": ["login", "--password=x"]}]},
            {"containers": [{"name": "a", "command": ["login", "--password=y"]}]},
            "spec.containers[a].command[1]: live differs from wanted",
        ),
        (
            {"containers": [{"name": "a", "args": ["--password=x"]}]},
            {"containers": [{"name": "a"}]},
            "spec.containers[a].args: live differs from wanted",
        ),
        (
            {"lifecycle": {"preStop": {"exec": {"command": ["--password=x", "b"]}}}},
            {"lifecycle": {"preStop": {"exec": {"command": ["--password=x"]}}}},
            "spec.lifecycle.preStop.exec.command: live differs from wanted",
        ),
        ({"nodeName": "x" * 200}, {}, f"spec.nodeName: live nothing, wanted {'x' * 120}..."),
        ({"os": {"name": "a"}}, {"os": ["a"]}, "spec.os: live ['a'], wanted ['name']"),
    ],
)
def test_given_a_difference_then_it_says_where_and_what(wanted: Manifest, live: Manifest, words: str) -> None:
    assert difference(wanted, live) == words


@pytest.mark.parametrize(
    ("wanted", "live", "asked"),
    [
        ({"a": 1}, {}, [("spec", "a")]),
        ({}, {"a": 1}, [("spec", "a")]),
        ({"a": {"b": 1}}, {}, [("spec", "a", "b")]),
        (
            {"a": [{"name": "n", "b": 1}]},
            {"a": [{"name": "n"}]},
            [("spec", "a", Element(0, {"name": "n", "b": 1}), "b")],
        ),
        ({"a": 1}, {"a": 2}, []),
    ],
)
def test_given_a_field_on_one_side_only_then_it_may_be_excused(
    wanted: Manifest, live: Manifest, asked: list[Any]
) -> None:
    heard: list[Difference] = []

    def excuse(found: Difference) -> bool:
        heard.append(found)
        return True

    found = Comparison(excuse).objects(wanted, live, ("spec",))
    assert [each.path for each in heard] == asked
    assert (found is None) == bool(asked)
