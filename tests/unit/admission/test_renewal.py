"""When are certificates made, renewed and forgotten?"""

from datetime import UTC, datetime, timedelta

import pytest

from firebolt_operator.admission.decide.renewal import (
    AddAuthority,
    Anew,
    Authority,
    Forget,
    Held,
    Issue,
    Renewal,
    Rest,
    Serving,
    Span,
    Terms,
    decide_renewal,
    trusted_meanwhile,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)
DAY = timedelta(days=1)
TERMS = Terms(life=90 * DAY)
NAMES = frozenset({"webhook.ns.svc"})


def authority(name: str = "new", age: timedelta = 10 * DAY) -> Authority:
    made_at = NOW - age
    return Authority(fingerprint=name, span=Span(made_at=made_at, until=made_at + TERMS.authority_life))


def ending(left: timedelta) -> Serving:
    """As after a long absence, or of an operator with other terms."""
    return Serving(issuer="old", names=NAMES, span=Span(made_at=NOW - DAY, until=NOW + left))


def serving(issuer: str = "new", age: timedelta = 10 * DAY, names: frozenset[str] = NAMES) -> Serving:
    made_at = NOW - age
    return Serving(issuer=issuer, names=names, span=Span(made_at=made_at, until=made_at + TERMS.life))


def held(*authorities: Authority, shown: Serving | None = None, has_key: bool = True) -> Held:
    return Held(authorities=authorities or (authority(),), has_key=has_key, serving=shown or serving())


def decided(what: Held, published_at: datetime | None = NOW - DAY) -> Renewal:
    return decide_renewal(what, NAMES, published_at=published_at, now=NOW, terms=TERMS)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        pytest.param(Held(), Anew, id="nothing-there"),
        pytest.param(held(has_key=False), Anew, id="an-authority-without-its-key"),
        pytest.param(held(authority(age=360 * DAY)), Anew, id="an-authority-that-has-run-out"),
        pytest.param(Held(authorities=(authority(),), has_key=True), Issue, id="no-certificate"),
        pytest.param(held(shown=serving(issuer="")), Issue, id="a-certificate-of-nobody"),
        pytest.param(held(shown=serving(age=90 * DAY)), Issue, id="a-certificate-that-has-run-out"),
        pytest.param(held(authority(age=240 * DAY)), AddAuthority, id="an-authority-that-is-due"),
        pytest.param(held(shown=serving(age=60 * DAY)), Issue, id="a-certificate-that-is-due"),
        pytest.param(held(shown=serving(names=frozenset({"other"}))), Issue, id="other-names"),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", DAY), shown=serving("old")),
            Issue,
            id="the-new-authority-has-settled",
        ),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", DAY), shown=ending(TERMS.settle / 20)),
            Issue,
            id="what-is-shown-ends-before-the-new-authority-settles",
        ),
        pytest.param(
            held(authority("old"), authority("new"), shown=serving(age=TERMS.retire)), Forget, id="the-old-one-retires"
        ),
    ],
)
def test_what_is_due(what: Held, expected: type[Renewal]) -> None:
    assert isinstance(decided(what), expected)


@pytest.mark.parametrize(
    ("what", "published_at", "after"),
    [
        pytest.param(held(), NOW - DAY, 50 * DAY, id="until-the-certificate-is-due"),
        pytest.param(held(authority(age=239 * DAY), shown=serving(age=DAY)), NOW, DAY, id="until-the-authority-is-due"),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", timedelta(0)), shown=serving("old", 60 * DAY)),
            NOW,
            TERMS.settle,
            id="a-new-authority-signs-nothing-yet",
        ),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", DAY), shown=serving("old")),
            None,
            TERMS.settle,
            id="nor-while-somebody-does-not-trust-it",
        ),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", DAY), shown=ending(TERMS.settle / 2)),
            NOW,
            TERMS.settle * 4 / 10,
            id="until-shortly-before-the-end-of-what-is-shown",
        ),
        pytest.param(
            held(authority("old", 240 * DAY), authority("new", DAY), shown=ending(TERMS.settle / 20)),
            None,
            TERMS.settle / 20,
            id="nor-beyond-it-whoever-trusts-the-new-one",
        ),
        pytest.param(
            held(authority("old"), authority("new"), shown=serving(age=timedelta(0))),
            NOW - DAY,
            TERMS.retire,
            id="the-old-one-stays-while-replicas-may-show-it",
        ),
    ],
)
def test_what_rests(what: Held, published_at: datetime | None, after: timedelta) -> None:
    assert decided(what, published_at) == Rest(NOW + after)


def test_of_former_authorities_the_living_are_trusted_and_not_too_many() -> None:
    dead, *living = authority("dead", 400 * DAY), authority("a"), authority("b"), authority("c")
    assert trusted_meanwhile([dead, *living], NOW) == tuple(living[-2:])


def test_a_life_of_minutes_scales_all_else() -> None:
    terms = Terms(life=timedelta(minutes=10))
    assert terms.settle < terms.retire < terms.life < terms.authority_life
