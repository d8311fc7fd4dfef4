"""A StatefulSet as the API server hands it back, and ways to change it behind the operator's back."""

import copy
from typing import Any

from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.refs import Manifest

GENERATION = 12


def live_statefulset(inputs: EngineInputs) -> Manifest:
    """Rendered, stored, read: with the defaults that the test's templates give rise to."""
    live = copy.deepcopy(engine_statefulset(inputs, GENERATION))
    spec = live["spec"]
    spec["revisionHistoryLimit"] = 10
    for claim in spec.get("volumeClaimTemplates", []):
        claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}
        claim["spec"].setdefault("volumeMode", "Filesystem")
    pod = spec["template"]["spec"]
    for name, value in {
        "dnsPolicy": "ClusterFirst",
        "restartPolicy": "Always",
        "schedulerName": "default-scheduler",
        "serviceAccount": pod.get("serviceAccountName"),
    }.items():
        pod.setdefault(name, value)
    for container in [*pod["containers"], *pod.get("initContainers", [])]:
        _default_container(container)
    for volume in pod["volumes"]:
        for kind in {"configMap", "secret"} & volume.keys():
            volume[kind].setdefault("defaultMode", 420)
    return live


def _default_container(container: Manifest) -> None:
    container.setdefault("imagePullPolicy", "IfNotPresent")
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    container.setdefault("resources", {})
    for probe in {"livenessProbe", "readinessProbe", "startupProbe"} & container.keys():
        for name, value in (
            ("timeoutSeconds", 1),
            ("periodSeconds", 10),
            ("successThreshold", 1),
            ("failureThreshold", 3),
        ):
            container[probe].setdefault(name, value)
        container[probe]["httpGet"].setdefault("scheme", "HTTP")


def changed(manifest: Manifest, path: str, value: Any) -> Manifest:
    """A copy with one field set, or removed for None: `changed(live, "spec/template/spec/containers/0/image", "x")`."""
    copied = copy.deepcopy(manifest)
    node: Any = copied
    *steps, last = [int(step) if step.isdigit() else step for step in path.split("/")]
    for step in steps:
        node = node.setdefault(step, {}) if isinstance(node, dict) else node[step]
    if value is None and isinstance(node, dict):
        node.pop(last, None)
    elif value is None:
        del node[last]
    else:
        node[last] = value
    return copied
