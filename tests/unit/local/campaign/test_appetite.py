"""Is a process that needs more and more told from one that has warmed up?"""

import os

import pytest

from firebolt_local.campaign.load.appetite import Sample, growth, sample

FLAT = [Sample(70, 40, 2)] * 40


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        pytest.param([], [], id="nothing-known"),
        pytest.param(FLAT, [], id="flat"),
        pytest.param([Sample(20, 10, 0)] * 10 + FLAT[10:], [], id="warmed-up"),
        pytest.param([Sample(70 + n, 40, 2) for n in range(200)], ["memory grew from 144 to 244"], id="a-leak"),
        pytest.param([Sample(70, 40 + n, 2) for n in range(200)], ["files grew from 114 to 214"], id="descriptors"),
    ],
)
def test_growth(samples: list[Sample], expected: list[str]) -> None:
    assert growth(samples) == expected


def test_a_process_that_runs_can_be_measured() -> None:
    found = sample(os.getpid(), requests=3)
    assert found is not None
    assert found.memory > 1
    assert found.files > 0
    assert found.requests == 3


def test_one_that_is_gone_cannot() -> None:
    assert sample(0, 0) is None
