"""Deletion removes what is ours, and nothing that merely looks like it."""

from typing import Any

import pytest

from firebolt_operator.api.model import ObjectMeta, OwnerReference
from firebolt_operator.api.resources import CONFIG_MAPS, PERSISTENT_VOLUME_CLAIMS, SECRETS, STATEFULSETS
from firebolt_operator.instance.decide.ownership import SWEPT, is_own, label_selector
from firebolt_operator.refs import Resource
from tests.support.instances import an_instance

LABELS = {"firebolt.io/instance": "inst", "firebolt.io/component": "postgres"}
OURS = OwnerReference(uid="uid-1", kind="FireboltInstance", name="inst", controller=True)
CLAIM = "data-inst-metadata-pg-0"


@pytest.mark.parametrize(
    ("resource", "found", "expected"),
    [
        pytest.param(CONFIG_MAPS, {"name": "x", "owner_references": [OURS]}, True, id="owned-by-uid"),
        pytest.param(SECRETS, {"name": "x", "labels": LABELS}, False, id="a-label-proves-nothing"),
        pytest.param(
            STATEFULSETS,
            {
                "name": "inst-metadata-pg",
                "labels": LABELS,
                "owner_references": [OwnerReference(uid="uid-0", name="inst")],
            },
            False,
            id="of-an-earlier-instance-of-that-name",
        ),
        pytest.param(PERSISTENT_VOLUME_CLAIMS, {"name": CLAIM, "labels": LABELS}, True, id="the-databases-claim"),
        pytest.param(PERSISTENT_VOLUME_CLAIMS, {"name": CLAIM, "labels": {}}, False, id="a-claim-without-our-labels"),
        pytest.param(
            PERSISTENT_VOLUME_CLAIMS,
            {"name": CLAIM, "labels": {**LABELS, "firebolt.io/component": "backup"}},
            False,
            id="a-claim-of-another-component",
        ),
        pytest.param(PERSISTENT_VOLUME_CLAIMS, {"name": "backup", "labels": LABELS}, False, id="a-claim-of-the-users"),
        pytest.param(
            PERSISTENT_VOLUME_CLAIMS,
            {"name": "data-inst-metadata-pg-0-copy", "labels": LABELS},
            False,
            id="a-copy-of-the-claim",
        ),
    ],
)
def test_ownership(resource: Resource, found: dict[str, Any], expected: bool) -> None:
    assert is_own(an_instance(), resource, ObjectMeta(namespace="ns", **found)) is expected


ISSUED = {"inst-auth-signing": "auth-signing", "inst-engine-tls": "engine-tls", "inst-gateway-tls": "gateway-tls"}


@pytest.mark.parametrize(("name", "component"), ISSUED.items())
def test_what_cert_manager_wrote_for_an_instance_goes_with_it(name: str, component: str) -> None:
    labels = {"firebolt.io/instance": "inst", "firebolt.io/component": component}
    for_it = {"cert-manager.io/certificate-name": name}
    found = ObjectMeta(name=name, labels=labels, annotations=for_it)
    others = {
        "a copy": ObjectMeta(name=f"{name}-copy", labels=labels, annotations=for_it),
        "of the user's": ObjectMeta(name=name, labels=labels),
        "of another instance": ObjectMeta(
            name=name, labels={**labels, "firebolt.io/instance": "i"}, annotations=for_it
        ),
        "of another component": ObjectMeta(
            name=name, labels={**labels, "firebolt.io/component": "postgres"}, annotations=for_it
        ),
    }
    assert is_own(an_instance(), SECRETS, found)
    assert [why for why, each in others.items() if is_own(an_instance(), SECRETS, each)] == []


def test_given_an_instance_without_uid_then_nothing_is_its_own() -> None:
    nobody = ObjectMeta(name="x", owner_references=[OwnerReference(uid="")])
    assert not is_own(an_instance(meta={"uid": ""}), CONFIG_MAPS, nobody)


def test_the_sweep_goes_through_every_kind_in_order() -> None:
    assert [resource.kind for resource in SWEPT] == [
        "StatefulSet",
        "Deployment",
        "Service",
        "RoleBinding",
        "Role",
        "ServiceAccount",
        "ConfigMap",
        "Certificate",
        "Secret",
        "PersistentVolumeClaim",
        "PodDisruptionBudget",
    ]
    assert label_selector(an_instance()) == "firebolt.io/instance=inst"
