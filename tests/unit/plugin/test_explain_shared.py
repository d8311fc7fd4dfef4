"""Who uses what engines share, as kubectl tells it?"""

import json
from pathlib import Path

import pytest

from firebolt_operator.refs import Manifest
from tests.support.plugin import an_engine, asked
from tests.unit.plugin.conftest import Played

AT_WORK = '{"items": []}'


def of_namespace(manifest: Manifest, namespace: str) -> Manifest:
    return manifest | {"metadata": manifest["metadata"] | {"namespace": namespace}}


def listed(folder: Path, name: str, *items: Manifest) -> str:
    place = folder / f"{name}.json"
    place.write_text(json.dumps({"items": items}))
    return f"cat {place}; exit 0"


def one(folder: Path, name: str, manifest: Manifest) -> str:
    place = folder / f"{name}.json"
    place.write_text(json.dumps(manifest))
    return f"cat {place}; exit 0"


def test_a_class_of_the_cluster_is_used_where_there_is_none_nearer(played: Played, tmp_path: Path) -> None:
    medium = {"metadata": {"name": "medium", "generation": 1}, "spec": {"template": {}}}
    users = [of_namespace(an_engine(spec={"engineClassRef": "medium"}), each) for each in ("far", "near")]
    plugin = played(
        ("get -n ns clusterfireboltengineclass medium", one(tmp_path, "class", medium)),
        ("get fireboltengine -A", listed(tmp_path, "engines", *users, of_namespace(an_engine("other"), "far"))),
        ("get fireboltengineclass -A", listed(tmp_path, "nearer", of_namespace(medium, "near"))),
        ("get", f"echo '{AT_WORK}'; exit 0"),
        namespace="ns",
    )
    assert plugin.says("explain", "clusterclass/medium").startswith("clusterclass medium: used by 1 engine(s)\n")


def test_a_preset_is_used_by_every_engine_beside_it(played: Played, tmp_path: Path) -> None:
    guard = "compute.firebolt.io/fireboltenginepresets-deletion-guard"
    metadata = {"name": "firebolt", "namespace": "ns", "deletionTimestamp": "2026-05-01T12:00:00Z"}
    preset = {"metadata": metadata | {"finalizers": [guard]}, "spec": {"template": {}}}
    plugin = played(
        ("get -n ns fireboltenginepreset firebolt", one(tmp_path, "preset", preset)),
        ("get -n ns fireboltengine ", listed(tmp_path, "engines", an_engine("a"), an_engine("b"))),
        ("get", f"echo '{AT_WORK}'; exit 0"),
        namespace="ns",
    )
    assert "1. blocks  preset firebolt is used by 2 engine(s): a, b\n" in plugin.says("explain", "preset/firebolt")


@pytest.mark.parametrize("kind", ["class", "preset", "clusterclass"])
def test_what_would_be_looked_at_is_what_is_looked_at(played: Played, kind: str) -> None:
    resource = {"class": "fireboltengineclass", "preset": "fireboltenginepreset"}.get(
        kind, "clusterfireboltengineclass"
    )
    printing = played(namespace="ns").says("explain", f"{kind}/it", "--print-commands")
    subject = '{"metadata": {"name": "it"}, "spec": {}}'
    plugin = played(
        (f"{resource} it", f"echo '{subject}'; exit 0"), ("get", f"echo '{AT_WORK}'; exit 0"), namespace="ns"
    )
    plugin.says("explain", f"{kind}/it")
    assert {f"kubectl {line}" for line in asked(plugin.kubectl)} == {
        line for line in printing.splitlines() if line.startswith("kubectl")
    }


def test_one_that_is_not_there(played: Played) -> None:
    plugin = played(("get", "exit 0"))
    assert plugin.refuses("explain", "clusterclass/none") == (
        'clusterclass "none" is not there; kubectl get clusterfireboltengineclass shows those that are'
    )
