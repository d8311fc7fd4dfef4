from dataclasses import replace

import pytest

from firebolt_operator.api.instance_id import is_same_id, is_ulid
from firebolt_operator.instance.decide.components import decide_instance
from firebolt_operator.instance.decide.failures import changed_id
from firebolt_operator.instance.decide.identity import (
    CANONICAL,
    FREE_FORM,
    Subject,
    canonical_verdict,
    is_looked_at,
    obstacle,
    refused,
    unresolved,
)
from firebolt_operator.manifests.releases import FLOOR
from firebolt_operator.reconciling.verdicts import Verdict
from tests.support.instances import ID, a_ready_status, a_situation, an_instance, said

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("instance_id", "expected"),
    [
        pytest.param(ID, None, id="upper-case"),
        pytest.param(ID.lower(), CANONICAL, id="lower-case"),
        pytest.param("01j0000000000000000000000Z", None, id="mixed-case"),
        pytest.param("00000000000000000000000000", CANONICAL, id="digits-have-no-case"),
        pytest.param("0Customer-Account-ID-12345", FREE_FORM, id="a-name-of-26-characters"),
        pytest.param("1234567890ABCDEFGHIJKLMNOP", FREE_FORM, id="letters-that-crockford-leaves-out"),
        pytest.param("ACME", FREE_FORM, id="a-short-name"),
        pytest.param(f"{ID}0", FREE_FORM, id="27-characters"),
        pytest.param("\N{KELVIN SIGN}" * 26, FREE_FORM, id="what-turns-into-a-letter"),
    ],
)
def test_which_id_is_to_be_rewritten(instance_id: str, expected: Verdict | None) -> None:
    assert canonical_verdict(instance_id) == expected


def test_what_is_said_of_an_id_that_stays() -> None:
    assert Verdict("True", "Canonical", "spec.id is a lowercase Crockford ULID") == CANONICAL
    assert Verdict("True", "Canonical", "spec.id is not a Crockford ULID; nothing to canonicalize") == FREE_FORM


def test_what_is_said_of_an_id_that_cannot_be_rewritten() -> None:
    assert unresolved("no such class") == Verdict("False", "ImageResolveFailed", "no such class")
    assert refused("01j", "no") == Verdict("False", "UpdateRejected", 'spec.id could not be canonicalized to "01j": no')


def test_a_line_break_is_no_part_of_an_id() -> None:
    assert not is_ulid(f"{ID}\n")


def test_an_old_image_is_named_with_what_helps() -> None:
    assert obstacle(Subject("metadata", "metadata:release-4.9.0")) == Verdict(
        "False",
        "ImageBelowFloor",
        'spec.id is an uppercase Crockford ULID; metadata image "metadata:release-4.9.0" is older than the canonicalize'
        f' floor "{FLOOR}" — bump metadata and every bound engine image to that tag (or unset the pins) before the id'
        " is lowercased",
    )


def test_of_a_digest_it_is_said_that_nothing_can_be_compared() -> None:
    image = f"engine@{DIGEST}"
    assert obstacle(Subject('engine "one"', image)) == Verdict(
        "False",
        "ImageBelowFloor",
        f'spec.id is an uppercase Crockford ULID; engine "one" image "{image}" is pinned by digest, so its version'
        f' cannot be compared against the canonicalize floor "{FLOOR}" — repin it by tag at or above the floor (or'
        " unset the pin) before the id is lowercased",
    )


def test_a_new_image_is_no_obstacle() -> None:
    assert obstacle(Subject("metadata", f"metadata:{FLOOR}")) is None


def test_an_id_in_another_case_is_no_changed_id() -> None:
    assert changed_id(an_instance(id=ID.lower(), status=a_ready_status(instanceID=ID))) is None
    assert changed_id(an_instance(id=ID.lower(), status=a_ready_status(instanceID=ID[:-1] + "1"))) is not None
    assert is_same_id(ID, ID.lower())


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param(a_ready_status(), True, id="an-instance-at-rest"),
        pytest.param(a_ready_status(phase="Failed"), False, id="a-failed-one-waits-for-a-person"),
        pytest.param(a_ready_status(instanceID="01J00000000000000000000009"), False, id="one-that-is-about-to-fail"),
    ],
)
def test_whose_id_is_looked_at(status: dict[str, object], *, expected: bool) -> None:
    assert is_looked_at(an_instance(status=status)) is expected


def test_the_verdict_is_told_and_is_no_part_of_ready() -> None:
    verdict = Verdict("False", "ImageBelowFloor", "too old")
    situation = a_situation(an_instance(status=a_ready_status()))
    status = decide_instance(replace(situation, identity=verdict)).status
    assert said(status, "InstanceIDCanonical") == ("False", "ImageBelowFloor", "too old")
    assert status.phase == "Ready"
