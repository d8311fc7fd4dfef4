"""What is there before a case is tried: an instance with Secrets of its own, and classes, some of them bad."""

import json
from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Final

from firebolt_local.cluster.kube_http import MERGE_PATCH, KubeHttp
from firebolt_operator.api.names import GROUP, PRESET_NAME, VERSION
from firebolt_operator.refs import Manifest
from tests.support.admission.case import Case, an_object
from tests.support.admission.engines import CLASSES, CLUSTER_CLASSES, INSTANCE_SPEC, INSTANCE_STATUS

PLURALS: Final = {
    "FireboltEngine": "fireboltengines",
    "FireboltEngineClass": "fireboltengineclasses",
    "FireboltInstance": "fireboltinstances",
    "FireboltEnginePreset": "fireboltenginepresets",
    "ClusterFireboltEngineClass": "clusterfireboltengineclasses",
}


def path_of(kind: str, namespace: str, name: str = "") -> str:
    place = "" if kind.startswith("Cluster") else f"namespaces/{namespace}/"
    path = f"/apis/{GROUP}/{VERSION}/{place}{PLURALS[kind]}"
    return f"{path}/{name}" if name else path


def make_world(http: KubeHttp, namespace: str, elsewhere: str) -> None:
    for name, spec in CLASSES.items():
        _create(http, an_object("FireboltEngineClass", name, namespace, spec))
    _create(http, an_object("FireboltEngineClass", "elsewhere", elsewhere, {"template": {}}))
    for name, spec in CLUSTER_CLASSES.items():
        # Of everybody: another world may have made it already.
        manifest = an_object("ClusterFireboltEngineClass", name, "", spec)
        code, answer = http.text("POST", path_of("ClusterFireboltEngineClass", ""), json.dumps(manifest))
        assert code in {201, 409}, answer
    _create(http, an_object("FireboltInstance", "inst", namespace, INSTANCE_SPEC))
    tell(http, "FireboltInstance", namespace, "inst", INSTANCE_STATUS)


def tell(http: KubeHttp, kind: str, namespace: str, name: str, status: Manifest) -> None:
    path = f"{path_of(kind, namespace, name)}/status"
    code, answer = http.text("PATCH", path, json.dumps({"status": status}), MERGE_PATCH)
    assert code == 200, answer


@contextmanager
def preset_beside(http: KubeHttp, namespace: str, case: Case) -> Generator[None]:
    """The preset that a case asks for."""
    if case.preset is None:
        yield
        return
    _create(http, an_object("FireboltEnginePreset", PRESET_NAME, namespace, case.preset))
    try:
        yield
    finally:
        discard(http, "FireboltEnginePreset", namespace, PRESET_NAME)


def discard(http: KubeHttp, kind: str, namespace: str, name: str) -> None:
    """At once: nobody waits for finalizers."""
    path = path_of(kind, namespace, name)
    http.text("DELETE", path)
    http.text("PATCH", path, json.dumps({"metadata": {"finalizers": None}}), MERGE_PATCH)


def _create(http: KubeHttp, manifest: Manifest) -> None:
    http.create(path_of(manifest["kind"], manifest["metadata"]["namespace"]), manifest)


def make_engines(http: KubeHttp, engines: list[Manifest]) -> None:
    """Several at a time: a list has more than one page only with hundreds of them."""
    with ThreadPoolExecutor(max_workers=4) as pool:
        list(pool.map(partial(_create, http), engines))


def remove_engines(http: KubeHttp, *namespaces: str) -> None:
    for namespace in namespaces:
        code, answer = http.text("DELETE", f"{path_of('FireboltEngine', namespace)}?labelSelector=tried%3Ddeletion")
        assert code == 200, answer
