"""Whom a list speaks for: a CA that was renewed has the same name, and needs a list of its own."""

import pytest

from firebolt_operator.manifests.revocations import has_list, read_revocations
from tests.support.growth import STEEPEST, growth
from tests.support.pki import Authority

OLD, NEW, OTHER = Authority("ca"), Authority("ca"), Authority("other")


def test_each_ca_needs_a_list_that_it_signed_itself() -> None:
    lists = read_revocations(OLD.revoked())
    assert has_list(lists, OLD.pem) == [True]
    assert has_list(lists, NEW.pem) == [False]
    assert has_list(lists, OTHER.pem) == [False]
    both = read_revocations(f"{OLD.revoked()}\n{NEW.revoked([7])}")
    assert has_list(both, f"{NEW.pem}\n{OLD.pem}\n{OTHER.pem}") == [True, True, False]


def test_a_list_that_does_not_name_a_key_speaks_for_every_ca_of_its_name() -> None:
    lists = read_revocations(OLD.revoked(names_its_key=False))
    assert has_list(lists, f"{OLD.pem}{NEW.pem}{OTHER.pem}") == [True, True, False]


def test_what_is_no_certificate_needs_no_list() -> None:
    spoilt = "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"
    assert has_list(read_revocations(OLD.revoked()), f"CA-1\n{spoilt}") == []
    assert read_revocations("") == read_revocations(OLD.pem) == frozenset()


@pytest.mark.parametrize("label", ["X509 CRL", "CERTIFICATE"])
def test_beginnings_without_an_end_are_walked_over_once(label: str) -> None:
    begin = f"-----BEGIN {label}-----\n"

    def read(text: str) -> object:
        return read_revocations(text), has_list((), text)

    assert growth(read, lambda size: begin * (size // len(begin)), ()) < STEEPEST
