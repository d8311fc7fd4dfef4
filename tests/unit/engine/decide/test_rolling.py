from typing import Any

import pytest

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.engine_preset import EnginePresetSpec
from firebolt_operator.engine.decide.rolling import Origin, Standing, has_room, origin_of
from firebolt_operator.engine.inputs import ClassInfo, PresetInfo
from firebolt_operator.manifests.template_images import engine_image
from firebolt_operator.refs import Manifest
from tests.support.engines import a_spec, a_status

IMAGE: Manifest = {"spec": {"containers": [{"name": "other", "image": "x"}, {"name": "engine", "image": "mine:1"}]}}
BIG = ClassInfo(name="big", spec=EngineClassSpec(template={}), generation=7)


def origin(engine_class: ClassInfo | None = BIG, **spec: Any) -> Origin:
    return origin_of(a_spec(**spec), engine_class, namespace="ns", generation=3, default_image="engine:2")


PRESET = PresetInfo(name="firebolt", spec=EnginePresetSpec(template={}), generation=4)
SHARED = ClassInfo(name="big", spec=EngineClassSpec(template={}), generation=7, kind="ClusterFireboltEngineClass")
SETTLED = {"settled_generation": 3, "settled_class": "big/7"}


@pytest.mark.parametrize(
    ("status", "image", "cause"),
    [
        pytest.param(SETTLED, "engine:1", "default image engine:2", id="another-default-image"),
        pytest.param(SETTLED | {"settled_class": "big/6"}, "engine:2", "class ns/big", id="the-class-was-edited"),
        pytest.param(SETTLED, "engine:2", "", id="neither"),
        pytest.param(SETTLED | {"settled_generation": 2}, "engine:1", "", id="the-engine-itself-was-edited"),
        pytest.param({"observed_generation": 3}, "engine:1", "default image engine:2", id="the-limit-is-new"),
        pytest.param({"observed_generation": 3}, "engine:2", "class ns/big", id="the-limit-is-new-and-a-class-there"),
        pytest.param({"observed_generation": 2}, "engine:1", "", id="the-limit-is-new-and-the-engine-edited"),
    ],
)
def test_why_an_engine_rolls_with_others(status: dict[str, Any], image: str, cause: str) -> None:
    assert origin().cause(a_status(**status), image) == cause


@pytest.mark.parametrize(
    "named",
    [
        pytest.param(origin(template=IMAGE), id="the-engine-names-an-image"),
        pytest.param(
            origin(ClassInfo(name="big", spec=EngineClassSpec(template=IMAGE), generation=7)), id="its-class-names-one"
        ),
    ],
)
def test_given_an_image_of_its_own_then_the_default_one_is_no_cause(named: Origin) -> None:
    assert named.cause(a_status(**SETTLED), "mine:1") == ""


def test_given_no_class_then_nothing_but_the_image_is_shared() -> None:
    assert origin(None).cause(a_status(settled_generation=3), "engine:2") == ""
    assert origin(None).status_at_rest(a_status()) == a_status(settled_generation=3)


@pytest.mark.parametrize("template", [None, {}, {"spec": None}, {"spec": {"containers": [None, {"name": "engine"}]}}])
def test_an_image_that_is_not_there(template: Manifest | None) -> None:
    assert engine_image(template) == ""
    assert engine_image(IMAGE) == "mine:1"


ROLLING, WAITING, OVERDUE = Standing.ROLLING, Standing.WAITING, Standing.OVERDUE


@pytest.mark.parametrize(
    ("others", "most", "expected"),
    [
        pytest.param([], 1, True, id="alone"),
        pytest.param([("z", ROLLING)], 1, False, id="the-only-place-is-taken"),
        pytest.param([("z", ROLLING)], 2, True, id="one-is-left"),
        pytest.param([("a", WAITING)], 1, False, id="one-comes-first"),
        pytest.param([("z", WAITING)], 1, True, id="one-comes-later"),
        pytest.param([("a", WAITING), ("z", ROLLING)], 2, False, id="the-last-place-is-for-the-first"),
    ],
)
def test_room(others: list[tuple[str, Standing]], most: int, expected: bool) -> None:
    assert has_room(("ns", "m"), [(("ns", name), their) for name, their in others], most) is expected


@pytest.mark.parametrize(
    ("others", "most", "expected"),
    [
        pytest.param([("a", ROLLING)], 1, False, id="a-neighbour-rolls"),
        pytest.param([("a", OVERDUE)], 1, True, id="a-neighbour-is-overdue"),
        pytest.param([("a", OVERDUE), ("a", WAITING)], 1, True, id="those-behind-it-wait-for-it-only"),
        pytest.param([("a", OVERDUE), ("a", WAITING)], 2, True, id="one-of-them-may-start-and-so-may-i"),
        pytest.param([("a", OVERDUE), ("a", WAITING), ("b", WAITING)], 2, False, id="two-others-may-start"),
        pytest.param([("a", OVERDUE), ("b", ROLLING)], 1, False, id="another-neighbour-rolls"),
        pytest.param([("a", OVERDUE), ("z", WAITING)], 1, True, id="one-comes-later"),
    ],
)
def test_room_beside_neighbours(others: list[tuple[str, Standing]], most: int, expected: bool) -> None:
    named = [((namespace, f"e{index}"), their) for index, (namespace, their) in enumerate(others)]
    assert has_room(("m", "me"), named, most) is expected


@pytest.mark.parametrize(
    ("preset", "settled", "cause"),
    [
        pytest.param(PRESET, "4", "", id="the-same"),
        pytest.param(PRESET, "3", "preset ns/firebolt", id="edited"),
        pytest.param(PRESET, "", "preset ns/firebolt", id="new"),
        pytest.param(None, "4", "preset ns/firebolt", id="gone"),
        pytest.param(None, "", "", id="there-never-was-one"),
    ],
)
def test_a_preset_is_a_cause_that_engines_of_a_namespace_share(
    preset: PresetInfo | None, settled: str, cause: str
) -> None:
    found = origin_of(a_spec(), BIG, preset, namespace="ns", generation=3, default_image="engine:2")
    status = a_status(**SETTLED, settled_preset=settled)
    assert found.cause(status, "engine:2") == cause
    assert found.status_at_rest(status).settled_preset == found.preset_version


def test_engines_of_all_namespaces_share_a_class_of_the_cluster() -> None:
    origins = [
        origin_of(a_spec(), SHARED, namespace=namespace, generation=3, default_image="engine:2") for namespace in "ab"
    ]
    assert {each.cause(a_status(**SETTLED), "engine:2") for each in origins} == {"class big"}
    settled = origins[0].status_at_rest(a_status(**SETTLED))
    assert origins[0].cause(settled, "engine:2") == ""


def test_an_image_in_a_preset_is_no_default_image() -> None:
    named = PresetInfo(name="firebolt", spec=EnginePresetSpec(template=IMAGE), generation=4)
    found = origin_of(a_spec(), None, named, namespace="ns", generation=3, default_image="engine:2")
    assert found.default_image == ""
