"""Are the definitions in config/ the ones that the program prints, and do they fit where they go?"""

import json
from pathlib import Path

import pytest
import yaml

from firebolt_operator.api.crds import SEPARATOR, crd_documents, crd_files, crd_manifests
from firebolt_operator.refs import Manifest

FOLDER = Path(__file__).parents[3] / "config/crd"
ANNOTATION_LIMIT = 256 * 1024  # of `kubectl apply`, which keeps what it applied in an annotation


def test_the_files_are_what_the_program_prints() -> None:
    stored = {path.name: path.read_text() for path in FOLDER.glob("*.yaml")}
    assert stored == crd_files(), "run scripts/write_crds.py"


def test_the_documents_are_the_manifests() -> None:
    assert list(yaml.load_all(crd_documents(), Loader=yaml.CSafeLoader)) == crd_manifests()


def test_the_documents_are_the_files_one_after_the_other() -> None:
    assert crd_documents().split(SEPARATOR) == list(crd_files().values())


def test_the_text_has_no_anchors() -> None:
    assert "&id" not in crd_documents()


@pytest.mark.parametrize("manifest", crd_manifests(), ids=lambda manifest: manifest["spec"]["names"]["kind"])
def test_a_definition_is_small_enough_for_kubectl_apply(manifest: Manifest) -> None:
    assert len(json.dumps(manifest)) < ANNOTATION_LIMIT


def test_only_engines_can_be_scaled() -> None:
    subresources = {
        manifest["spec"]["names"]["kind"]: sorted(manifest["spec"]["versions"][0].get("subresources", ()))
        for manifest in crd_manifests()
    }
    assert subresources == {
        "FireboltInstance": ["status"],
        "FireboltEngine": ["scale", "status"],
        "FireboltEngineClass": ["status"],
        "FireboltEnginePreset": ["status"],
        "ClusterFireboltEngineClass": [],
    }


def test_only_an_instance_must_have_a_spec() -> None:
    required = {
        manifest["spec"]["names"]["kind"]: manifest["spec"]["versions"][0]["schema"]["openAPIV3Schema"].get("required")
        for manifest in crd_manifests()
    }
    assert {kind: fields for kind, fields in required.items() if fields} == {"FireboltInstance": ["spec"]}


def test_only_classes_of_the_cluster_belong_to_no_namespace() -> None:
    scopes = {manifest["spec"]["names"]["kind"]: manifest["spec"]["scope"] for manifest in crd_manifests()}
    assert [kind for kind, scope in scopes.items() if scope == "Cluster"] == ["ClusterFireboltEngineClass"]
