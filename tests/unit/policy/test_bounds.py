"""An engine must not ask for more than the administrator allows."""

from typing import Any

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.policy.bounds import ResourceBounds, check_bounds, parse_bounds
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.inherited import class_template, preset_template
from firebolt_operator.refs import Manifest
from tests.unit.policy.builders import a_container, a_template, paths

BASE = "spec.template.spec.containers[engine].resources"
CPU_AND_MEMORY = parse_bounds(cpu="32", memory="256Gi", ephemeral_storage="")


def asking(**resources: Manifest | list[Manifest]) -> Manifest:
    return a_template(a_container("side"), a_container("engine", resources=resources))


def limits(**amounts: str | int) -> Manifest:
    return asking(limits=dict(amounts))


def only(*, cpu: str = "", memory: str = "", ephemeral_storage: str = "") -> ResourceBounds:
    return parse_bounds(cpu=cpu, memory=memory, ephemeral_storage=ephemeral_storage)


@pytest.mark.parametrize(
    ("template", "bounds"),
    [
        pytest.param(limits(cpu="32", memory="256Gi"), CPU_AND_MEMORY, id="equality-passes"),
        pytest.param(limits(cpu="32000m", memory="262144Mi"), CPU_AND_MEMORY, id="equality-in-other-words-passes"),
        pytest.param(limits(cpu="128"), only(memory="256Gi"), id="a-dimension-without-a-bound"),
        pytest.param(limits(cpu="999", memory="999Ti"), ResourceBounds(), id="no-bounds-at-all"),
        pytest.param(limits(cpu="999"), only(cpu="0"), id="zero-means-no-bound"),
        pytest.param(limits(**{"nvidia.com/gpu": 64}), only(cpu="1"), id="other-resources-are-never-bounded"),
        pytest.param(
            a_template(a_container("side", resources={"limits": {"cpu": "64"}})),
            only(cpu="1"),
            id="sidecars-are-never-bounded",
        ),
        pytest.param(a_template(a_container("engine")), only(cpu="1"), id="an-engine-that-asks-for-nothing"),
        pytest.param(None, only(cpu="1"), id="no-template"),
        pytest.param(asking(limits={}, requests={}), only(cpu="1"), id="empty-resources"),
        pytest.param(limits(cpu=None), only(cpu="1"), id="a-null-amount"),  # type: ignore[arg-type]
    ],
)
def test_within_bounds(template: Manifest | None, bounds: ResourceBounds) -> None:
    assert check_bounds(template, (), bounds) == []


@pytest.mark.parametrize(
    ("template", "bounds", "expected"),
    [
        pytest.param(
            limits(cpu="64"),
            CPU_AND_MEMORY,
            f'{BASE}.limits.cpu: Invalid value: "64": exceeds operator-configured maximum 32',
            id="a-cpu-limit",
        ),
        pytest.param(
            asking(requests={"memory": "512Gi"}),
            CPU_AND_MEMORY,
            f'{BASE}.requests.memory: Invalid value: "512Gi": exceeds operator-configured maximum 256Gi',
            id="a-memory-request",
        ),
        pytest.param(
            limits(**{"ephemeral-storage": "2Gi"}),
            only(ephemeral_storage="1024Mi"),
            f'{BASE}.limits.ephemeral-storage: Invalid value: "2Gi": exceeds operator-configured maximum 1Gi',
            id="ephemeral-storage-and-a-bound-in-canonical-form",
        ),
        pytest.param(
            limits(cpu="0.5"),
            only(cpu="0.25"),
            f'{BASE}.limits.cpu: Invalid value: "500m": exceeds operator-configured maximum 250m',
            id="values-in-canonical-form",
        ),
        pytest.param(
            limits(cpu=64),
            only(cpu="32"),
            f'{BASE}.limits.cpu: Invalid value: "64": exceeds operator-configured maximum 32',
            id="a-plain-number",
        ),
        pytest.param(
            limits(cpu="32001m"),
            only(cpu="32"),
            f'{BASE}.limits.cpu: Invalid value: "32001m": exceeds operator-configured maximum 32',
            id="the-smallest-excess",
        ),
        pytest.param(
            limits(cpu="lots"),
            only(cpu="32"),
            f'{BASE}.limits.cpu: Invalid value: "lots": is not a quantity',
            id="what-cannot-be-compared-is-not-within-bounds",
        ),
    ],
)
def test_beyond_bounds(template: Manifest, bounds: ResourceBounds, expected: str) -> None:
    assert aggregate(check_bounds(template, (), bounds)) == expected


def test_requests_come_before_limits_and_names_are_sorted() -> None:
    amounts: Manifest = {"memory": "9Gi", "ephemeral-storage": "9Gi", "cpu": "9"}
    template = asking(limits=amounts, requests=amounts)
    bounds = only(cpu="1", memory="1Gi", ephemeral_storage="1Gi")
    assert paths(check_bounds(template, (), bounds)) == [
        f"{BASE}.{field}.{name}" for field in ("requests", "limits") for name in ("cpu", "ephemeral-storage", "memory")
    ]


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(None, id="the-engine-has-no-template"),
        pytest.param(a_template(a_container("engine", resources={})), id="the-engine-asks-for-nothing"),
    ],
)
def test_an_inherited_excess_names_the_class_and_the_way_out(own: Manifest | None) -> None:
    inherited = [class_template("large", limits(cpu="64"))]
    assert aggregate(check_bounds(own, inherited, only(cpu="32"))) == (
        f'{BASE}.limits.cpu: Invalid value: "64": exceeds operator-configured maximum 32'
        ' (inherited from FireboltEngineClass "large"; set spec.template on this engine to override)'
    )


@pytest.mark.parametrize(
    "own",
    [
        pytest.param(limits(cpu="8"), id="a-limit-of-its-own"),
        pytest.param(asking(requests={"memory": "1Gi"}), id="any-request-of-its-own"),
        pytest.param(asking(claims=[{"name": "gpu"}]), id="claims-alone"),
    ],
)
def test_an_engine_that_sets_any_resources_inherits_none(own: Manifest) -> None:
    assert check_bounds(own, [class_template("large", limits(cpu="64"))], only(cpu="32")) == []


def test_a_class_that_asks_for_nothing_is_fine() -> None:
    assert check_bounds(None, [class_template("small", None)], only(cpu="1")) == []


def test_bounds_are_kept_in_canonical_form_and_zero_and_empty_mean_none() -> None:
    bounds = parse_bounds(cpu="0.5", memory="1024Mi", ephemeral_storage="10Ti")
    assert bounds == ResourceBounds(cpu="500m", memory="1Gi", ephemeral_storage="10Ti")
    assert bounds
    assert all((only(cpu="1"), only(memory="1"), only(ephemeral_storage="1")))
    assert not parse_bounds(cpu="", memory="0", ephemeral_storage="0Gi")
    assert parse_bounds(cpu="", memory="", ephemeral_storage="", replicas=999)


@pytest.mark.parametrize("value", ["16GB", "garbage", "not-a-quantity", " 1", "-1"])
@pytest.mark.parametrize("flag", ["cpu", "memory", "ephemeral-storage"])
def test_a_bad_bound_ends_the_start_up_and_names_flag_and_value(flag: str, value: str) -> None:
    words: dict[str, Any] = {"cpu": "", "memory": "", "ephemeral_storage": "", flag.replace("-", "_"): value}
    with pytest.raises(ConfigurationError) as caught:
        parse_bounds(**words)
    assert str(caught.value).startswith(f"--engine-max-{flag}: ")
    assert f'"{value}"' in str(caught.value)


def test_of_two_bad_bounds_the_first_is_named() -> None:
    with pytest.raises(ConfigurationError, match="--engine-max-memory"):
        parse_bounds(cpu="1", memory="x", ephemeral_storage="y")


def test_the_highest_that_asks_for_anything_counts_and_is_named() -> None:
    large, small = class_template("large", limits(cpu="64")), class_template("small", limits(cpu="1"))
    assert aggregate(check_bounds(None, [preset_template("firebolt", limits(cpu="48")), small], only(cpu="32"))) == (
        f'{BASE}.limits.cpu: Invalid value: "48": exceeds operator-configured maximum 32'
        ' (inherited from FireboltEnginePreset "firebolt"; set spec.template on this engine to override)'
    )
    assert check_bounds(None, [preset_template("firebolt", limits(cpu="8")), large], only(cpu="32")) == []
