"""What goes on while no replica serves, and does everything heal by itself?"""

import base64
import json
import random
import threading
import time

from firebolt_operator.api.names import ANNOTATION_WAKE_REQUESTED, FINALIZER_ENGINE_CLASS
from tests.api.admission.place import Place, engine, engine_class

ROUNDS = 100


def bundles(place: Place) -> list[str]:
    found = (place.plane.http.get(place.configuration_path(kind)) for kind in ("validating", "mutating"))
    return [webhook["clientConfig"].get("caBundle", "") for each in found for webhook in each["webhooks"]]


def test_without_a_replica_only_new_wishes_wait(place: Place) -> None:
    place.made(engine("kept"))
    place.made(engine_class("kept"))
    place.stop()
    try:
        stamp = {"metadata": {"annotations": {ANNOTATION_WAKE_REQUESTED: "2026-01-01T00:00:00Z"}}}
        for change in (stamp, {"metadata": {"finalizers": ["example.com/mine"]}}, {"metadata": {"finalizers": None}}):
            assert place.patch("FireboltEngine", "kept", change)[0] == 200
        status = {"currentGeneration": 0, "activeGeneration": -1, "phase": "creating"}
        assert place.patch("FireboltEngine", "kept", {"status": status}, "status")[0] == 200
        code, answer = place.patch("FireboltEngine", "kept", {"spec": {"replicas": 1}})
        assert (code, "failed calling webhook" in answer) == (500, True), answer
        assert place.delete("FireboltEngineClass", "kept")[0] == 500
        assert place.delete("FireboltEngine", "kept")[0] == 200
    finally:
        place.start()
    place.made(engine("after"))


def test_a_bundle_broken_by_hand_is_mended_within_seconds(place: Place) -> None:
    (good,) = set(bundles(place))
    broken = [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": ""}]
    path, patch_type = place.configuration_path(), "application/json-patch+json"
    code, answer = place.plane.http.text("PATCH", path, json.dumps(broken), patch_type)
    assert code == 200, answer
    began = time.monotonic()
    place.plane.wait_until(lambda: set(bundles(place)) == {good}, "the bundle is as it was")
    print(f"mended after {time.monotonic() - began:.2f} s")


def test_a_lost_secret_is_made_again_and_no_write_fails(place: Place) -> None:
    path = f"/api/v1/namespaces/{place.namespace}/secrets/{place.namespace}-webhook-certificate"
    before = place.plane.http.get(path)["data"]["tls.crt"]
    place.plane.http.delete(path)
    answers = list[int]()

    def is_back() -> bool:
        answers.append(place.create(engine("steady"), dry_run=True)[0])
        status, answer = place.plane.http.text("GET", path)
        return status == 200 and json.loads(answer)["data"]["tls.crt"] != before

    place.plane.wait_until(is_back, "another certificate")
    answers += [place.create(engine("steady"), dry_run=True)[0] for _ in range(50)]
    assert set(answers) == {201}
    assert base64.b64decode(bundles(place)[0]).count(b"BEGIN CERTIFICATE") == 2


def test_no_engine_is_left_without_its_class_whoever_is_quicker(place: Place) -> None:
    rng = random.Random(1)
    for number in range(ROUNDS):
        place.made(engine_class(f"race{number}"))
        deleting = threading.Thread(target=place.delete, args=("FireboltEngineClass", f"race{number}"))
        waits = rng.uniform(-0.01, 0.01)
        deleting.start()
        time.sleep(max(waits, 0))
        place.create(engine(f"race{number}", engineClassRef=f"race{number}"))
        deleting.join()
    outcomes = {"engine": 0, "no engine": 0}
    for number in range(ROUNDS):
        if place.found("FireboltEngine", f"race{number}") is None:
            outcomes["no engine"] += 1
            continue
        outcomes["engine"] += 1
        found = place.found("FireboltEngineClass", f"race{number}")
        assert found is not None
        assert FINALIZER_ENGINE_CLASS in found["metadata"]["finalizers"]
    print(outcomes)
