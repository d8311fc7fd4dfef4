"""A change starts a pass of the instance it concerns, and only if a decision could come out differently."""

import json
from typing import Any

import msgspec
import pytest

from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.instance.observe.watches import child_changed, instance_changed
from firebolt_operator.manifests.live_objects import LiveObject, decode_live
from firebolt_operator.runtime.work_queue import Priority
from tests.support.instances import a_secret, an_instance

PASS = ((("ns", "inst"), Priority.EVENT),)
LABELS = {"firebolt.io/instance": "inst"}


def a_deployment(*, ready: int = 0, version: str = "1", **changes: Any) -> LiveObject:
    document: dict[str, Any] = {
        "metadata": {"name": "d", "namespace": "ns", "uid": "u", "resourceVersion": version, "labels": LABELS}
        | {"ownerReferences": [{"kind": "FireboltInstance", "name": "inst", "uid": "i"}]},
        "spec": {"replicas": 2},
        "status": {"readyReplicas": ready},
        **changes,
    }
    return decode_live(json.dumps(document).encode())


@pytest.mark.parametrize(
    ("old", "new", "concerns"),
    [
        pytest.param(None, a_deployment(), True, id="made"),
        pytest.param(a_deployment(), None, True, id="gone"),
        pytest.param(a_deployment(ready=0), a_deployment(ready=1), True, id="first-pod-ready"),
        pytest.param(a_deployment(ready=1), a_deployment(ready=0), True, id="last-pod-lost"),
        pytest.param(a_deployment(ready=1), a_deployment(ready=2, version="2"), False, id="one-more-pod"),
        pytest.param(a_deployment(), a_deployment(spec={"replicas": 3}), True, id="edited"),
    ],
)
def test_children(old: LiveObject | None, new: LiveObject | None, concerns: bool) -> None:
    assert tuple(child_changed(old, new)) == (PASS if concerns else ())


def test_secrets() -> None:
    labelled = a_secret(metadata=ObjectMeta(name="s", namespace="ns", uid="u", labels=LABELS))
    emptied = msgspec.structs.replace(labelled, filled=frozenset())
    touched = msgspec.structs.replace(
        labelled, metadata=ObjectMeta(name="s", namespace="ns", uid="u", labels=LABELS, resource_version="9")
    )
    assert tuple(child_changed(labelled, emptied)) == PASS
    assert tuple(child_changed(labelled, touched)) == ()
    assert tuple(child_changed(None, a_secret())) == ()  # of no instance


def test_the_instance_itself() -> None:
    """Its status counts too: a person may clear a phase there."""
    assert tuple(instance_changed(an_instance(), an_instance(status={"phase": "Failed"}))) == PASS
    assert tuple(instance_changed(an_instance(), None)) == PASS
    assert tuple(instance_changed(None, None)) == ()
