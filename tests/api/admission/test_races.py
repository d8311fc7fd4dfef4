"""A class is deleted while an engine that names it is made: is there ever an engine without its class?"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS
from tests.api.admission.holding import holding_engines
from tests.api.admission.place import Place, engine, engine_class

AT_ONCE = 4  # rounds
SPREAD = 0.03  # seconds; a deletion is asked about longer than a creation, and gets a longer start
HANG = 600.0  # seconds
PATIENCE = 2.0  # seconds in which a class would be long gone, if nobody thought of requests under way


def test_an_engine_that_is_under_way_keeps_its_class(place: Place, tmp_path: Path) -> None:
    """Its class was there when the operator was asked, and is deleted before the engine is stored."""
    place.made(engine_class("late"))
    answers = list[tuple[int, str]]()
    with holding_engines(place, tmp_path) as holding:
        making = threading.Thread(target=lambda: answers.append(create_patiently(place, "late")))
        making.start()
        assert holding.asked.wait(60)
        code, answer = place.delete("FireboltEngineClass", "late")
        assert code == 200, answer
        time.sleep(PATIENCE)
        holding.may_go.set()
        making.join()
    assert answers[0][0] == http.client.CREATED, answers
    found = place.found("FireboltEngineClass", "late")
    assert found is not None
    assert FINALIZER_ENGINE_CLASS in found["metadata"]["finalizers"]
    place.plane.wait_until(lambda: is_blocked(place, "late"), "the class says who holds it")
    code, answer = place.create(engine("later", engineClassRef="late"))
    assert (code, "is being deleted" in answer) == (403, True), answer
    assert place.patch("FireboltEngine", "late", {"spec": {"replicas": 0, "engineClassRef": None}})[0] == 200


def create_patiently(place: Place, name: str) -> tuple[int, str]:
    patient = replace(place.plane.http, timeout_seconds=60)
    body = json.dumps(engine(name, engineClassRef=name))
    return patient.text("POST", place.path("FireboltEngine"), body)


def is_blocked(place: Place, name: str) -> bool:
    found = place.found("FireboltEngineClass", name) or {}
    conditions = found.get("status", {}).get("conditions", [])
    return any(each["reason"] == "DeletionBlocked" for each in conditions)


def test_whoever_is_quicker_no_engine_is_without_its_class(place: Place) -> None:
    run_rounds(place, 25, seed=1)
    assert without_class(place) == set()


@pytest.mark.slow
def test_no_engine_is_without_its_class_in_five_hundred_races(place: Place) -> None:
    """Until every class that nobody names is gone: only then nothing can go wrong any more."""
    began = time.monotonic()
    outcomes = run_rounds(place, 500, seed=random.randrange(10**6))
    raced = time.monotonic() - began

    while left := unnamed(place):
        assert without_class(place) == set()
        assert time.monotonic() - began < HANG, left
        time.sleep(1)
    kept = names(place, "FireboltEngineClass", "race")
    print(
        f"500 races in {raced:.0f} s: {dict(outcomes)}; {len(kept)} classes kept by their engine,"
        f" the others gone after {time.monotonic() - began:.0f} s; engines without a class: {without_class(place)}"
    )
    assert min(outcomes["engine made"], outcomes["engine refused"]) > 0


def run_rounds(place: Place, rounds: int, *, seed: int) -> Counter[str]:
    print(f"seed {seed}")
    rng = random.Random(seed)
    outcomes = Counter[str]()
    tasks = [(f"race{seed}x{number}", rng.uniform(-SPREAD, 5 * SPREAD)) for number in range(rounds)]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        for said in [pool.submit(race, place, name, ahead) for name, ahead in tasks]:
            outcomes.update(said.result())
    return outcomes


def race(place: Place, name: str, ahead: float) -> list[str]:
    """By so much the deletion comes first."""
    place.made(engine_class(name))
    codes = dict[str, int]()

    def delete() -> None:
        time.sleep(max(-ahead, 0))
        codes["deletion"] = place.delete("FireboltEngineClass", name)[0]

    deleting = threading.Thread(target=delete)
    deleting.start()
    time.sleep(max(ahead, 0))
    codes["engine"] = place.create(engine(name, engineClassRef=name))[0]
    deleting.join()
    assert codes["deletion"] in {200, 403}
    assert codes["engine"] in {201, 403}
    return [
        "engine made" if codes["engine"] == http.client.CREATED else "engine refused",
        "deletion begun" if codes["deletion"] == http.client.OK else "deletion refused",
    ]


def names(place: Place, kind: str, prefix: str) -> set[str]:
    items = place.plane.http.get(place.path(kind))["items"]
    return {each["metadata"]["name"] for each in items if each["metadata"]["name"].startswith(prefix)}


def without_class(place: Place) -> set[str]:
    """Engines first: none of them goes in between."""
    engines = names(place, "FireboltEngine", "race")
    return engines - names(place, "FireboltEngineClass", "race")


def unnamed(place: Place) -> set[str]:
    items = place.plane.http.get(place.path("FireboltEngineClass"))["items"]
    deleted = {each["metadata"]["name"] for each in items if "deletionTimestamp" in each["metadata"]}
    return deleted - names(place, "FireboltEngine", "race") - {"late"}
