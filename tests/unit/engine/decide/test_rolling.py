from typing import Any

import pytest

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.engine.decide.rolling import Origin, Standing, engine_image, has_room, origin_of
from firebolt_operator.engine.inputs import ClassInfo
from firebolt_operator.refs import Manifest
from tests.support.engines import a_spec, a_status

IMAGE: Manifest = {"spec": {"containers": [{"name": "other", "image": "x"}, {"name": "engine", "image": "mine:1"}]}}
BIG = ClassInfo(name="big", spec=EngineClassSpec(template={}), generation=7)


def origin(engine_class: ClassInfo | None = BIG, **spec: Any) -> Origin:
    return origin_of(a_spec(**spec), engine_class, namespace="ns", generation=3, default_image="engine:2")


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
    assert origin(None).settled(a_status()) == a_status(settled_generation=3)


@pytest.mark.parametrize("template", [None, {}, {"spec": None}, {"spec": {"containers": [None, {"name": "engine"}]}}])
def test_an_image_that_is_not_there(template: Manifest | None) -> None:
    assert engine_image(template) == ""
    assert engine_image(IMAGE) == "mine:1"


ROLLING, WAITING = Standing.ROLLING, Standing.WAITING


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
