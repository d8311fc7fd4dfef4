"""Is the time that is left told from what is recorded, and corrected by what is measured?"""

import pytest

from firebolt_local.programs import provision
from firebolt_local.programs.estimate import RECORDED, Estimate
from firebolt_local.programs.recipes import RECIPES, recipes_with

ALL = [RECIPES[name] for name in provision.ALL]


def minutes(estimate: Estimate) -> int:
    words = estimate.left().split()
    return int(words[1]) if words[0] == "about" else 0


def test_every_program_has_a_record() -> None:
    assert set(RECORDED) == set(RECIPES)


def test_given_twice_the_cores_then_half_the_time_is_expected_until_something_is_measured() -> None:
    assert minutes(Estimate(ALL, cores=4)) == pytest.approx(minutes(Estimate(ALL, cores=2)) / 2, abs=1)


@pytest.mark.parametrize("factor", [0.5, 1, 3])
def test_given_a_machine_of_another_speed_then_the_rest_is_scaled_by_it(factor: float) -> None:
    measured, done = Estimate(ALL, cores=2), [RECORDED[recipe.program].alone for recipe in ALL[:2]]
    rest = minutes(measured) - sum(done) / 60
    for recipe, seconds in zip(ALL, done, strict=False):
        measured.note(recipe, seconds * factor)
    assert minutes(measured) == pytest.approx(rest * factor, rel=0.2, abs=1)


def test_given_everything_then_less_than_a_minute_is_left() -> None:
    estimate = Estimate(ALL, cores=2)
    for recipe in ALL:
        estimate.note(recipe, None)
    assert estimate.left() == "less than a minute left"


def test_given_a_program_that_others_built_then_nothing_is_learned_of_it() -> None:
    estimate = Estimate(ALL, cores=2)
    before = minutes(estimate)
    estimate.note(RECIPES["pause"], None)
    assert minutes(estimate) == before


def test_given_one_small_program_then_it_is_expected_to_compile_what_bigger_ones_share() -> None:
    alone, after = RECORDED["cert-manager"]
    assert alone > after + 60
    assert minutes(Estimate([RECIPES["cert-manager"]], cores=2)) == round(alone / 60)


def test_given_another_kubernetes_then_it_shares_nothing_with_the_other_programs() -> None:
    older = recipes_with("1.35")
    names = ("kube-apiserver", "cert-manager")
    assert minutes(Estimate([older[name] for name in names], cores=2)) > minutes(
        Estimate([RECIPES[name] for name in names], cores=2)
    )
