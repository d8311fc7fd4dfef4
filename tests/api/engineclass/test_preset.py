"""What all engines of a namespace inherit: merged, gated, rolled for, counted and guarded."""

import pytest

from firebolt_operator.api.names import (
    ANNOTATION_ENGINE_PRESET_HASH,
    FINALIZER_ENGINE_PRESET,
    PRESET_NAME,
)
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINE_PRESETS, FIREBOLT_ENGINES, STATEFULSETS
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, message, reason


def labelled(**labels: str) -> Manifest:
    return {"metadata": {"labels": labels}}


async def preset_says(person: Person, wanted: str) -> Manifest:
    def is_said(found: Manifest | None) -> bool:
        said = {each["type"]: each for each in (found or {}).get("status", {}).get("conditions", [])}
        return bool(said.get("Ready", {}).get("reason") == wanted)

    return await person.until(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, is_said) or {}


async def test_only_one_name_is_possible(operator: Operator, person: Person) -> None:
    del operator
    with pytest.raises(InvalidError, match="must be named 'firebolt'; the namespace singleton is enforced by name"):
        await person.make_preset("other")


async def test_four_layers_are_merged_and_an_edit_rolls_whom_it_changes(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_class(template=labelled(a="class", b="class", c="class"), storage={"emptyDir": {"medium": ""}})
    await person.make_preset(
        template=labelled(b="preset", c="preset"), customEngineConfig={"logging": {"level": "debug"}}
    )
    await person.make_engine("all", engineClassRef="big", template=labelled(c="engine"))
    await person.make_engine("own", template=labelled(b="own", c="own"))
    for name in ("all", "own"):
        await operator.until_at_rest(0, name)
    statefulset = await person.read(STATEFULSETS, "all-g0")
    labels = statefulset["spec"]["template"]["metadata"]["labels"]
    assert {"a": "class", "b": "preset", "c": "engine"}.items() <= labels.items()
    config = await person.read(CONFIG_MAPS, "all-g0-config")
    assert '"level": "debug"' in config["data"]["config.yaml"]
    applied = statefulset["metadata"]["annotations"][ANNOTATION_ENGINE_PRESET_HASH]
    status = (await person.read(FIREBOLT_ENGINES, "all"))["status"]
    assert (status["appliedPresetName"], status["appliedPresetHash"]) == (PRESET_NAME, applied)

    await person.patch(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, {"spec": {"template": labelled(b="edited")}})
    await operator.until_at_rest(1, "all")
    edited = (await person.read(FIREBOLT_ENGINES, "all"))["status"]["appliedPresetHash"]
    assert edited not in ("", applied)
    await operator.settled()
    own = await operator.until_at_rest(name="own")
    assert own.status.active_generation == 0, "an edit that changes nothing of its pods rolls nobody"


async def test_an_engine_that_requires_a_preset_waits_for_it(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(requirePreset=True)
    waiting = await operator.until_reason("FireboltEnginePresetRequired")
    assert message(waiting) == (
        "FireboltEnginePreset is required in this namespace:"
        f' namespace "{person.namespace}" has no FireboltEnginePreset'
    )
    assert reason(waiting, "Stalled") == "FireboltEnginePresetRequired"
    assert await person.names(STATEFULSETS) == set()
    await person.make_preset()
    await operator.until_at_rest(0, "eng")


async def test_a_preset_that_is_not_fit_for_use_blocks_all_and_is_mended(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_preset(template={"spec": {"hostname": "x"}})
    bad = await preset_says(person, "OperatorOwnedFieldSet")
    assert FINALIZER_ENGINE_PRESET in bad["metadata"]["finalizers"]
    await person.make_engine()
    blocked = await operator.until_reason("FireboltEnginePresetUnready")
    assert message(blocked) == (
        f'FireboltEnginePreset is not Ready: "firebolt" in namespace "{person.namespace}":'
        " spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
    )
    await person.patch(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, {"spec": {"template": {"spec": None}}})
    await operator.until_at_rest(0, "eng")
    good = await preset_says(person, "Admissible")
    assert good["status"]["boundEngines"] == 1


async def test_a_preset_in_use_is_kept_until_its_last_engine_is_gone(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_preset()
    await person.make_engine()
    await operator.until_at_rest(0, "eng")
    await person.delete(FIREBOLT_ENGINE_PRESETS, PRESET_NAME)
    blocked = await preset_says(person, "DeletionBlocked")
    ready = next(each for each in blocked["status"]["conditions"] if each["type"] == "Ready")
    assert ready["message"] == (
        f'1 FireboltEngine(s) in namespace "{person.namespace}" consume FireboltEnginePreset "firebolt" as their'
        " ambient overlay; delete those engines before deleting the Preset object"
    )
    await person.delete(FIREBOLT_ENGINES, "eng")
    await person.until(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, lambda found: found is None)
