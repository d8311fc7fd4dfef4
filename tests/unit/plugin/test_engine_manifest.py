"""Is in the manifest what was asked for, and nothing else?"""

import pytest

from firebolt_operator.refs import Manifest
from kubectl_firebolt.engine_manifest import Wanted, engine_manifest, has_bucket

BARE: Manifest = {
    "apiVersion": "compute.firebolt.io/v1alpha1",
    "kind": "FireboltEngine",
    "metadata": {"name": "e1"},
    "spec": {"instanceRef": "i1", "replicas": 1},
}


def test_what_was_not_given_is_absent() -> None:
    assert engine_manifest(Wanted(name="e1", instance="i1")) == BARE


def test_no_nodes_are_said_in_so_many_words() -> None:
    assert engine_manifest(Wanted(name="e1", instance="i1", replicas=0))["spec"]["replicas"] == 0


def test_a_kind_of_storage_needs_a_bucket() -> None:
    assert engine_manifest(Wanted(name="e1", instance="i1", storage_type="gcs")) == BARE
    config = engine_manifest(Wanted(name="e1", instance="i1", bucket="b", storage_type="gcs"))["spec"]
    assert config["customEngineConfig"] == {
        "storage": {"managed_table_bucket_name": "b", "managed_table_storage": "gcs"}
    }


def test_a_folder_of_the_node() -> None:
    spec = engine_manifest(Wanted(name="e1", instance="i1", host_path="/data"))["spec"]
    assert spec["storage"] == {"hostPath": {"path": "/data", "type": "DirectoryOrCreate"}}


@pytest.mark.parametrize(
    ("spec", "there"),
    [
        ({}, False),
        ({"customEngineConfig": {"storage": {}}}, False),
        ({"customEngineConfig": {"storage": {"managed_table_bucket_name": ""}}}, False),
        ({"customEngineConfig": {"storage": {"managed_table_bucket_name": "b"}}}, True),
    ],
)
def test_whether_a_class_names_a_bucket(spec: Manifest, there: bool) -> None:
    assert has_bucket({"spec": spec}) is there
