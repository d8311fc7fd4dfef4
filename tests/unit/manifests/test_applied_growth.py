"""Whether an apply is needed is found out in a time that grows with the object, and no faster."""

import json
from typing import Any

import pytest

from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import LiveObject, live_object
from firebolt_operator.refs import Manifest
from tests.support.growth import STEEPEST, growth

BYTES_OF_AN_ENTRY = 20  # at 100 KiB: 5,000 entries


def secrets(count: int) -> tuple[list[Any], Manifest]:
    names = [f"pull-{number}" for number in range(count)]
    owned: Manifest = {f'k:{{"name":"{name}"}}': {".": {}, "f:name": {}} for name in names}
    return [{"name": name} for name in names], owned


def ports(count: int) -> tuple[list[Any], Manifest]:
    owned: Manifest = {
        f'k:{{"containerPort":{number},"protocol":"TCP"}}': {".": {}, "f:containerPort": {}} for number in range(count)
    }
    return [{"containerPort": number} for number in range(count)], owned


def finalizers(count: int) -> tuple[list[Any], Manifest]:
    names = [f"example.com/{number}" for number in range(count)]
    return list(names), {f'v:"{name}"': {} for name in names}


@pytest.mark.parametrize("entries", [secrets, ports, finalizers])
def test_given_ten_times_the_entries_then_it_takes_about_ten_times_as_long(entries: Any) -> None:
    def shape(size: int) -> tuple[Manifest, LiveObject]:
        elements, owned = entries(size // BYTES_OF_AN_ENTRY)
        fields = {"f:metadata": {"f:labels": {"f:a": {}}}, "f:spec": {"f:list": owned}}
        managed = {"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": fields}
        metadata: Manifest = {"name": "x", "labels": {"a": "1"}}
        rendered: Manifest = {"metadata": metadata, "spec": {"list": elements}}
        live = json.loads(json.dumps(rendered)) | {"metadata": metadata | {"managedFields": [managed]}}
        return rendered, live_object(live)

    def read(given: tuple[Manifest, LiveObject]) -> None:
        assert is_applied(*given)

    assert growth(read, shape, ()) < STEEPEST
