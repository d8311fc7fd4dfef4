"""Whom does the gateway trust? What is read, what is remembered, and what engines are told of it."""

from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.tls.decide.trust import (
    NewGeneration,
    TrustPlan,
    decide_trust,
    may_take_queries,
    published_authorities,
)
from firebolt_operator.tls.facts import TrustBundle, TrustedAuthority, TrustSituation

A, B, C = (blob_fingerprint(text) for text in ("CA-A", "CA-B", "CA-C"))


def bundle(revision: int = 3, **known: set[str]) -> TrustBundle:
    texts = {"a": "CA-A", "b": "CA-B", "c": "CA-C"}
    found = {blob_fingerprint(texts[key]): TrustedAuthority(texts[key], frozenset(gens)) for key, gens in known.items()}
    return TrustBundle(found, revision)


def decide(
    seen: dict[str, str],
    before: TrustBundle | None = None,
    *,
    published: frozenset[str] = frozenset(),
) -> TrustPlan:
    known = before or TrustBundle()
    return decide_trust(TrustSituation(seen=seen, anchor=" CA-C\n", bundle=known, published=published))


def test_each_ca_counts_once_whatever_space_is_around_it() -> None:
    plan = decide({"e-g1": "CA-B\n", "f-g0": "CA-A", "g-g2": "  CA-B  ", "h-g1": ""})
    assert plan.bundle == bundle(1, a={"f-g0"}, b={"e-g1", "g-g2"})


def test_the_first_generation_counts_and_the_anchor_only_without_any() -> None:
    assert decide({"e-g0": "CA-A"}).bundle == bundle(1, a={"e-g0"})
    assert decide({}).bundle == bundle(1, c=set())


def test_the_same_set_keeps_its_revision() -> None:
    before = bundle(a={"e-g1"})
    assert decide({"e-g1": "CA-A", "e-g2": "CA-A"}, before).bundle == bundle(3, a={"e-g1", "e-g2"})


def test_a_secret_that_cannot_be_read_takes_nothing_away() -> None:
    before = bundle(a={"e-g1"}, b={"f-g1"})
    assert decide({"e-g1": "", "f-g1": "CA-B"}, before).bundle == before
    assert decide({"x-g1": ""}, bundle(a={"e-g1"})).bundle == bundle(a={"e-g1"})


def test_a_secret_that_was_renewed_under_another_ca_brings_that_and_keeps_the_old() -> None:
    assert decide({"e-g1": "CA-B"}, bundle(a={"e-g1"})).bundle == bundle(4, a={"e-g1"}, b={"e-g1"})


def test_what_nobody_serves_is_withdrawn_then_gone() -> None:
    before, seen = bundle(a={"e-g1"}, b={"e-g2"}), {"e-g2": "CA-B"}
    withdrawn = decide(seen, before, published=frozenset({A, B}))
    assert set(withdrawn.bundle.authorities) == {A, B}
    assert withdrawn.may_publish == {B}
    assert published_authorities(frozenset({A, B}), withdrawn, is_served=False) == {B}
    assert decide(seen, before, published=frozenset({B})).bundle == bundle(4, b={"e-g2"})


def test_engines_are_told_of_a_ca_when_the_gateway_serves_it() -> None:
    plan = decide({"e-g1": "CA-A", "f-g1": "CA-B"}, bundle(a={"e-g1"}))
    assert published_authorities(frozenset({A}), plan, is_served=False) == {A}
    assert published_authorities(frozenset({A}), plan, is_served=True) == {A, B}


def test_a_generation_takes_queries_when_it_is_known_and_trusted() -> None:
    new, known = NewGeneration(name="e-g2", authority="CA-A\n"), bundle(a={"e-g1", "e-g2"})
    assert may_take_queries(new, known, frozenset({A}))
    assert not may_take_queries(new, known, frozenset({B}))
    assert not may_take_queries(new, bundle(a={"e-g1"}), frozenset({A}))
    assert not may_take_queries(NewGeneration(name="e-g2", authority=""), known, frozenset({A}))
    assert C not in known.authorities
