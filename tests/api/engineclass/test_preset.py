"""What all engines of a namespace inherit: merged, gated, rolled for, counted and guarded."""

from typing import Any

import pytest

from firebolt_operator.api.names import (
    ANNOTATION_ENGINE_PRESET_HASH,
    FINALIZER_ENGINE_PRESET,
    PRESET_NAME,
)
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINE_PRESETS, FIREBOLT_ENGINES, STATEFULSETS
from firebolt_operator.errors import InvalidError
from firebolt_operator.refs import Manifest
from tests.api.engine.fixtures import StartOperator
from tests.api.engine.person import Person
from tests.api.engine.running import Operator, message, reason


def labelled(**labels: str) -> Manifest:
    return {"metadata": {"labels": labels}}


async def preset_says(person: Person, wanted: str) -> Manifest:
    def is_said(found: Manifest | None) -> bool:
        said = {each["type"]: each for each in (found or {}).get("status", {}).get("conditions", [])}
        return bool(said.get("Ready", {}).get("reason") == wanted)

    return await person.until(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, is_said) or {}


async def make_known_preset(person: Person, **spec: Any) -> None:
    """The operator has heard of it: an engine made a moment after it might start without it, and roll."""
    await person.make_preset(**spec)
    await preset_says(person, "Admissible")


async def test_only_one_name_is_possible(operator: Operator, person: Person) -> None:
    del operator
    with pytest.raises(InvalidError, match="must be named 'firebolt'; the namespace singleton is enforced by name"):
        await person.make_preset("other")


async def test_four_layers_are_merged_and_an_edit_rolls_whom_it_changes(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_class(template=labelled(a="class", b="class", c="class"), storage={"emptyDir": {"medium": ""}})
    await make_known_preset(
        person, template=labelled(b="preset", c="preset"), customEngineConfig={"logging": {"level": "debug"}}
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


def layer(name: str, **engine: Any) -> Manifest:
    """Something of every kind of field."""
    mounted = [{"name": name, "mountPath": f"/{name}"}]
    container = {"name": "engine", "env": [{"name": name.upper(), "value": "x"}], "volumeMounts": mounted, **engine}
    return {
        "metadata": {"labels": {name: "yes", "last": name}, "annotations": {name: "yes", "last": name}},
        "spec": {
            "nodeSelector": {name: "yes", "last": name},
            "tolerations": [{"key": name, "operator": "Exists"}],
            "imagePullSecrets": [{"name": name}],
            "hostAliases": [{"ip": f"10.0.0.{len(name)}", "hostnames": [name]}],
            "volumes": [{"name": name, "emptyDir": {}}],
            "initContainers": [{"name": f"{name}-first", "image": "first:1"}],
            "containers": [container, {"name": f"{name}-side", "image": "side:1"}],
        },
    }


def away_from(name: str) -> Manifest:
    term = {"labelSelector": {"matchLabels": {"name": name}}, "topologyKey": "kubernetes.io/hostname"}
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}


LAYERS = ("class", "preset", "own")


def names(entries: list[Manifest], field: str = "name") -> list[str]:
    """Of those that one of the layers asked for, in their order."""
    return [each[field] for each in entries if str(each[field]).lower().startswith(LAYERS)]


async def test_every_field_is_merged_as_the_table_says(operator: Operator, person: Person) -> None:
    of_class = layer("class", image="class:1", resources={"limits": {"cpu": "1", "memory": "1Gi"}}, workingDir="/class")
    of_class["spec"] |= {"serviceAccountName": "class", "affinity": away_from("class"), "dnsPolicy": "Default"}
    of_preset = layer("preset", imagePullPolicy="Never", resources={"limits": {"cpu": "2"}})
    of_preset["spec"] |= {"serviceAccountName": "preset", "affinity": away_from("preset")}
    await person.make_instance()
    await person.make_class(template=of_class, storage={"emptyDir": {"sizeLimit": "1Gi"}})
    await make_known_preset(person, template=of_preset, storage={"emptyDir": {"medium": "Memory"}})
    await person.make_engine(replicas=0, engineClassRef="big", template=layer("own"))
    await operator.until_at_rest(0)
    template = (await person.read(STATEFULSETS, "eng-g0"))["spec"]["template"]
    pod, merged = template["spec"], dict.fromkeys(LAYERS, "yes") | {"last": "own"}
    engine = next(each for each in pod["containers"] if each["name"] == "engine")
    data = next(each for each in pod["volumes"] if each["name"] == "data")
    assert merged.items() <= template["metadata"]["labels"].items()
    assert merged.items() <= template["metadata"]["annotations"].items()
    assert pod["nodeSelector"] == merged
    assert (pod["serviceAccountName"], pod["dnsPolicy"], pod["automountServiceAccountToken"]) == (
        "preset",
        "Default",
        False,
    )
    assert pod["affinity"] == away_from("preset"), "taken whole"
    for field, key in (("tolerations", "key"), ("imagePullSecrets", "name"), ("volumes", "name")):
        assert names(pod[field], key) == list(LAYERS), field
    assert [each["hostnames"] for each in pod["hostAliases"]] == [[name] for name in LAYERS]
    assert names(pod["initContainers"]) == [f"{name}-first" for name in LAYERS]
    assert names(pod["containers"]) == [f"{name}-side" for name in LAYERS]
    assert (engine["image"], engine["imagePullPolicy"], engine["workingDir"]) == ("class:1", "Never", "/class")
    assert engine["resources"] == {"limits": {"cpu": "2"}}, "taken whole"
    assert names(engine["env"]) == [name.upper() for name in LAYERS]
    assert names(engine["volumeMounts"]) == list(LAYERS)
    assert data["emptyDir"] == {"medium": "Memory"}, "taken whole"


async def test_one_that_is_made_later_rolls_whom_it_changes_and_nobody_else(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine("bare")
    await person.make_engine("own", template=labelled(team="own"))
    for name in ("bare", "own"):
        at_rest = await operator.until_at_rest(0, name)
        assert (at_rest.status.applied_preset_name, at_rest.status.applied_preset_hash) == ("", "")
    assert ANNOTATION_ENGINE_PRESET_HASH not in str((await person.read(STATEFULSETS, "bare-g0"))["metadata"])
    await person.make_preset(template=labelled(team="all"))
    rolled = await operator.until_at_rest(1, "bare")
    assert rolled.status.applied_preset_name == PRESET_NAME
    await operator.settled()
    assert (await operator.until_at_rest(name="own")).status.active_generation == 0


async def test_a_rollout_under_way_is_not_held_up_by_one_that_turns_bad(
    start_operator: StartOperator, person: Person
) -> None:
    async with start_operator("--drain-settle=3s") as operator:
        await person.make_instance()
        await make_known_preset(person, template=labelled(a="1"))
        await person.make_engine()
        await operator.until_at_rest(0)
        await person.edit_engine(template=labelled(b="2"))
        await operator.until_phase("draining")
        bad = {"spec": {"template": {"spec": {"hostname": "x"}}}}
        await person.patch(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, bad)
        waiting = await operator.until_reason("FireboltEnginePresetUnready")
        assert (waiting.status.phase, waiting.status.active_generation) == ("stable", 1)
        assert await person.selected_generation() == "1"


async def test_one_that_waits_for_its_deletion_still_serves(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await make_known_preset(person, template=labelled(team="all"))
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.delete(FIREBOLT_ENGINE_PRESETS, PRESET_NAME)
    await preset_says(person, "DeletionBlocked")
    await person.edit_engine(template=labelled(own="yes"))
    await operator.until_at_rest(1)
    labels = (await person.read(STATEFULSETS, "eng-g1"))["spec"]["template"]["metadata"]["labels"]
    assert {"team": "all", "own": "yes"}.items() <= labels.items()


async def test_one_outside_the_selector_is_not_there_and_a_hidden_engine_keeps_one(
    start_operator: StartOperator, person: Person
) -> None:
    watched = {"watched": "yes"}
    async with start_operator("--watch-label-selector=watched=yes") as operator:
        await person.make_preset(template=labelled(team="all"))
        # Nobody looks after this one: whom it names is found by the selector as well.
        await person.client.create(
            person.manifest(
                FIREBOLT_ENGINES, "seen", labels=watched, spec={"instanceRef": "inst", "requirePreset": True}
            )
        )
        await operator.until_reason("FireboltEnginePresetRequired", name="seen")
        await person.patch(FIREBOLT_ENGINE_PRESETS, PRESET_NAME, {"metadata": {"labels": watched}})
        await preset_says(person, "Admissible")
        await person.make_engine("hidden")
        await person.delete(FIREBOLT_ENGINES, "seen")
        await operator.until_gone("seen")
        await person.delete(FIREBOLT_ENGINE_PRESETS, PRESET_NAME)
        blocked = await preset_says(person, "DeletionBlocked")
        assert blocked["status"]["boundEngines"] == 1, "counted live: the selector hides it from the cache"


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
    await make_known_preset(person)
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
