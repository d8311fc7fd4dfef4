"""Which objects turn a claim into a folder on a node? The local-path provisioner and its default storage class."""

import json

from firebolt_local.images.system import HELPER, PROVISIONER
from firebolt_local.node.dns import cluster_role_binding, deployment
from firebolt_local.node.namespaces import VOLUMES
from firebolt_operator.refs import Manifest

NAMESPACE = "kube-system"
NAME = "local-path-provisioner"
PROVISIONER_NAME = "rancher.io/local-path"
_CONFIG = "local-path-config"
_CONFIG_FOLDER = "/etc/config"
# fsGroup is not applied to such volumes, so whoever runs in the pod must be let in.
_SETUP = '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\nchmod 0777 "$VOL_DIR"\n'
_TEARDOWN = '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n'


def volume_objects() -> list[tuple[str, Manifest]]:
    """Collection paths and what is created there, in order."""
    core, rbac = f"/api/v1/namespaces/{NAMESPACE}", "/apis/rbac.authorization.k8s.io/v1"
    return [
        (f"{core}/serviceaccounts", {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME}}),
        (f"{rbac}/clusterroles", _role()),
        (f"{rbac}/clusterrolebindings", cluster_role_binding(NAME, NAMESPACE)),
        (f"{core}/configmaps", _config_map()),
        ("/apis/storage.k8s.io/v1/storageclasses", _storage_class()),
        (f"/apis/apps/v1/namespaces/{NAMESPACE}/deployments", _deployment()),
    ]


def _role() -> Manifest:
    read = ["get", "list", "watch"]
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": NAME},
        "rules": [
            {"apiGroups": [""], "resources": ["nodes", "configmaps", "persistentvolumeclaims"], "verbs": read},
            {"apiGroups": [""], "resources": ["pods"], "verbs": [*read, "create", "delete"]},
            {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
            {
                "apiGroups": [""],
                "resources": ["persistentvolumes"],
                "verbs": [*read, "create", "patch", "update", "delete"],
            },
            {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
            {"apiGroups": ["storage.k8s.io"], "resources": ["storageclasses"], "verbs": read},
        ],
    }


def _config_map() -> Manifest:
    paths = {"nodePathMap": [{"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [str(VOLUMES)]}]}
    helper = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "helper-pod"},
        "spec": {
            "terminationGracePeriodSeconds": 0,
            "containers": [{"name": "helper-pod", "image": HELPER, "imagePullPolicy": "Never"}],
        },
    }
    files = {
        "config.json": json.dumps(paths),
        "setup": _SETUP,
        "teardown": _TEARDOWN,
        "helperPod.yaml": json.dumps(helper),
    }
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": _CONFIG}, "data": files}


def _storage_class() -> Manifest:
    return {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {"name": "local-path", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
        "provisioner": PROVISIONER_NAME,
        "volumeBindingMode": "WaitForFirstConsumer",
        "reclaimPolicy": "Delete",
    }


def _deployment() -> Manifest:
    container = {
        "name": NAME,
        "image": PROVISIONER,
        "imagePullPolicy": "Never",
        "args": [
            "start",
            f"--config={_CONFIG_FOLDER}/config.json",
            f"--provisioner-name={PROVISIONER_NAME}",
            f"--service-account-name={NAME}",
            f"--helper-image={HELPER}",
            f"--configmap-name={_CONFIG}",
        ],
        "env": [{"name": "POD_NAMESPACE", "value": NAMESPACE}],
        "resources": {"requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"memory": "170Mi"}},
        "volumeMounts": [{"name": "config", "mountPath": _CONFIG_FOLDER, "readOnly": True}],
    }
    pod_spec = {"containers": [container], "volumes": [{"name": "config", "configMap": {"name": _CONFIG}}]}
    return deployment(NAME, {"app": NAME}, pod_spec)
