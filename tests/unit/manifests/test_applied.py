"""An apply is left out only if it would change nothing, and that includes taking back what we said before."""

import copy
import json
from typing import Any

import pytest

from firebolt_operator.instance.decide.steps import is_last_answer
from firebolt_operator.instance.facts import Answer
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import LiveObject, decode_live
from firebolt_operator.refs import Manifest

RENDERED: Manifest = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "d", "namespace": "ns", "labels": {"a": "1"}},
    "spec": {
        "replicas": 1,
        "selector": {"matchLabels": {"a": "1"}},
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "m:1",
                        "command": ["run", "fast"],
                        "ports": [{"containerPort": 80}],
                        "resources": {"limits": {"memory": "1024Mi"}},
                    }
                ],
                "tolerations": [{"key": "k", "operator": "Exists"}],
                "volumes": [{"name": "tmp", "emptyDir": {}}],
            }
        },
    },
}
OWNED: Manifest = {
    "f:metadata": {"f:labels": {"f:a": {}}},
    "f:spec": {
        "f:replicas": {},
        "f:selector": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    'k:{"name":"main"}': {
                        ".": {},
                        "f:name": {},
                        "f:image": {},
                        "f:command": {},
                        "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
                        "f:resources": {"f:limits": {"f:memory": {}}},
                    }
                },
                "f:tolerations": {},
                "f:volumes": {'k:{"name":"tmp"}': {".": {}, "f:name": {}, "f:emptyDir": {}}},
            }
        },
    },
}


def a_live_object(owned: Manifest = OWNED) -> Manifest:
    """As the server stores it: defaults filled in, quantities rewritten, a label and a container of somebody else."""
    live = copy.deepcopy(RENDERED)
    live["metadata"] |= {"uid": "u", "resourceVersion": "7", "labels": {"a": "1", "foreign": "x"}}
    live["metadata"]["managedFields"] = [
        {"manager": "kubectl", "operation": "Apply", "fieldsV1": {"f:spec": {"f:paused": {}}}},
        {"manager": "firebolt-operator", "operation": "Update", "subresource": "status", "fieldsV1": {"f:status": {}}},
        {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": owned},
    ]
    pod = live["spec"]["template"]["spec"]
    pod["containers"][0] |= {
        "terminationMessagePath": "/dev/termination-log",
        "resources": {"limits": {"memory": "1Gi"}},
    }
    pod["containers"][0]["ports"][0]["protocol"] = "TCP"
    pod["containers"].insert(0, {"name": "foreign", "image": "f:1"})
    live["status"] = {"readyReplicas": 2}
    return live


def seen(live: Manifest) -> LiveObject:
    return decode_live(json.dumps(live).encode())


def container(manifest: Manifest) -> Manifest:
    found: Manifest = next(
        each for each in manifest["spec"]["template"]["spec"]["containers"] if each["name"] == "main"
    )
    return found


def test_what_the_server_filled_in_and_what_others_added_does_not_matter() -> None:
    live = seen(a_live_object())
    assert is_applied(RENDERED, live)
    assert (live.ready_replicas, live.metadata.uid) == (2, "u")
    assert "managedFields" not in live.content["metadata"]
    assert "status" not in live.content


def test_an_object_that_we_never_applied_is_applied() -> None:
    live = copy.deepcopy(RENDERED)
    live["metadata"]["managedFields"] = []
    assert not is_applied(RENDERED, seen(live))


def more_rendered(path: str) -> Manifest:
    rendered = copy.deepcopy(RENDERED)
    pod = rendered["spec"]["template"]["spec"]
    match path:
        case "field":
            pod["nodeSelector"] = {"a": "b"}
        case "container":
            pod["containers"].append({"name": "more", "image": "x"})
        case "label":
            rendered["metadata"]["labels"]["b"] = "2"
        case "value":
            container(rendered)["image"] = "m:2"
        case "quantity":
            container(rendered)["resources"]["limits"]["memory"] = "2Gi"
        case "word":
            container(rendered)["command"] = ["run", "slow"]
        case "toleration":
            pod["tolerations"].append({"key": "l", "operator": "Exists"})
        case _:
            raise AssertionError(path)
    return rendered


@pytest.mark.parametrize("path", ["field", "container", "label", "value", "quantity", "word", "toleration"])
def test_what_we_want_anew_is_applied(path: str) -> None:
    assert not is_applied(more_rendered(path), seen(a_live_object()))


@pytest.mark.parametrize("path", ["field", "container", "label"])
def test_what_we_no_longer_want_is_taken_back(path: str) -> None:
    """The live object says all that is rendered; only the server's memory tells that we said more before."""
    live, owned = a_live_object(), copy.deepcopy(OWNED)
    pod, owned_pod = live["spec"]["template"]["spec"], owned["f:spec"]["f:template"]["f:spec"]
    match path:
        case "field":
            pod["nodeSelector"] = {"a": "b"}
            owned_pod["f:nodeSelector"] = {}
        case "container":
            pod["containers"].append({"name": "old"})
            owned_pod["f:containers"]['k:{"name":"old"}'] = {".": {}, "f:name": {}}
        case _:
            live["metadata"]["labels"]["old"] = "x"
            owned["f:metadata"]["f:labels"]["f:old"] = {}
    live["metadata"]["managedFields"][-1]["fieldsV1"] = owned
    assert not is_applied(RENDERED, seen(live))


@pytest.mark.parametrize("path", ["value", "atomic list", "removed"])
def test_what_others_changed_is_put_back(path: str) -> None:
    """Whoever updates a field of ours takes it from us."""
    live, owned = a_live_object(), copy.deepcopy(OWNED)
    owned_pod = owned["f:spec"]["f:template"]["f:spec"]
    owned_container = owned_pod["f:containers"]['k:{"name":"main"}']
    match path:
        case "value":
            container(live)["image"] = "evil:1"
            del owned_container["f:image"]
        case "atomic list":
            live["spec"]["template"]["spec"]["tolerations"].append({"operator": "Exists"})
            del owned_pod["f:tolerations"]
        case _:
            del container(live)["command"]
            del owned_container["f:command"]
    live["metadata"]["managedFields"][-1]["fieldsV1"] = owned
    assert not is_applied(RENDERED, seen(live))


def test_a_field_that_the_server_drops_is_not_asked_for_again() -> None:
    live = a_live_object()
    del container(live)["command"]
    assert is_applied(RENDERED, seen(live))


def test_what_the_server_answered_to_the_same_apply_needs_no_other() -> None:
    live = a_live_object()
    container(live)["image"] = "rewritten by the server"
    answer = Answer(RENDERED, seen(live))
    assert not is_applied(RENDERED, seen(live))
    assert is_last_answer(RENDERED, seen(live), answer)
    assert is_last_answer(RENDERED, seen(live), None) is False
    assert not is_last_answer(more_rendered("value"), seen(live), answer)
    container(live)["command"] = ["something", "else"]
    assert not is_last_answer(RENDERED, seen(live), answer)


def test_null_and_empty_lists_are_stored_as_absent() -> None:
    rendered = copy.deepcopy(RENDERED)
    rendered["spec"]["template"]["spec"] |= {"affinity": None, "imagePullSecrets": []}
    assert is_applied(rendered, seen(a_live_object()))


def test_given_an_empty_list_when_somebody_filled_it_then_it_is_applied() -> None:
    rendered, live = copy.deepcopy(RENDERED), a_live_object()
    rendered["spec"]["template"]["spec"]["imagePullSecrets"] = []
    live["spec"]["template"]["spec"]["imagePullSecrets"] = [{"name": "theirs"}]
    assert not is_applied(rendered, seen(live))


def test_given_an_empty_list_that_the_server_knows_to_be_ours_then_it_needs_no_apply() -> None:
    rendered, owned = copy.deepcopy(RENDERED), copy.deepcopy(OWNED)
    rendered["spec"]["template"]["spec"]["imagePullSecrets"] = []
    owned["f:spec"]["f:template"]["f:spec"]["f:imagePullSecrets"] = {}
    assert is_applied(rendered, seen(a_live_object(owned)))


def test_given_the_same_content_when_a_field_is_no_longer_ours_then_the_answer_does_not_count() -> None:
    taken = copy.deepcopy(OWNED)
    del taken["f:spec"]["f:replicas"]
    answer = Answer(RENDERED, seen(a_live_object()))
    assert seen(a_live_object(taken)).content == answer.stored.content
    assert not is_last_answer(RENDERED, seen(a_live_object(taken)), answer)


def owners(*uids: str) -> list[Manifest]:
    return [{"uid": uid, "name": "inst"} for uid in uids]


def is_list_settled(kind: str, wanted: list[Any], live: list[Any] | str | None, *keys: str) -> bool:
    """Of a list in the metadata; the keys are those of the elements that the server knows to be ours."""
    found = seen(a_live_object())
    element: Manifest = {".": {}, "f:uid": {}, "f:name": {}}
    ours: Manifest = {".": {}, **{key: element if key.startswith("k:") else {} for key in keys}}
    return is_applied(
        {**RENDERED, "metadata": {**RENDERED["metadata"], kind: wanted}},
        LiveObject(
            metadata=found.metadata,
            content={**found.content, "metadata": {**found.content["metadata"], kind: live}},
            owned={**OWNED, "f:metadata": {**OWNED["f:metadata"], f"f:{kind}": ours}},
        ),
    )


FIRST, SECOND = 'k:{"uid":"1"}', 'k:{"uid":"2"}'


@pytest.mark.parametrize(
    ("wanted", "live", "keys", "expected"),
    [
        pytest.param(owners("1"), owners("1"), [FIRST], True, id="there"),
        pytest.param(owners("1"), owners("9", "1"), [FIRST], True, id="among-those-of-others"),
        pytest.param(owners("1", "2"), owners("2", "1"), [FIRST, SECOND], True, id="in-another-order"),
        pytest.param(owners("2"), owners("1", "2"), [FIRST], False, id="another-one-is-wanted"),
        pytest.param(owners("1"), owners("9"), [FIRST], False, id="gone"),
        pytest.param(owners("1", "2"), owners("1", "9"), [FIRST, SECOND], False, id="one-of-two-is-gone"),
        pytest.param(owners("1"), None, [FIRST], False, id="the-list-is-gone"),
        pytest.param(owners("1"), "1", [FIRST], False, id="no-list-any-more"),
        pytest.param(owners("1"), ["1"], [FIRST], False, id="a-list-of-something-else"),
        pytest.param(owners("1"), owners("1"), ["i:0"], False, id="a-way-to-name-elements-that-we-do-not-know"),
    ],
)
def test_elements_that_are_named_by_their_keys(
    wanted: list[Any], live: list[Any] | str | None, keys: list[str], expected: bool
) -> None:
    assert is_list_settled("ownerReferences", wanted, live, *keys) is expected


@pytest.mark.parametrize(
    ("wanted", "live", "expected"),
    [
        pytest.param(["a/b"], ["a/b"], True, id="there"),
        pytest.param(["a/b"], ["c/d", "a/b"], True, id="among-those-of-others"),
        pytest.param(["a/b"], ["c/d"], False, id="gone"),
        pytest.param(["c/d"], ["a/b", "c/d"], False, id="no-longer-wanted"),
    ],
)
def test_elements_that_are_named_by_their_value(wanted: list[Any], live: list[Any], expected: bool) -> None:
    assert is_list_settled("finalizers", wanted, live, 'v:"a/b"') is expected


@pytest.mark.parametrize("wanted", ["a value", 1, None])
def test_given_a_value_where_the_server_knows_more_of_ours_then_it_is_applied(wanted: object) -> None:
    rendered = copy.deepcopy(RENDERED)
    rendered["spec"]["template"] = wanted
    live = a_live_object()
    live["spec"]["template"] = wanted
    assert not is_applied(rendered, seen(live))
