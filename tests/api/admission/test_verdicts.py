"""What does the API server say to people, with the operator's webhooks in front of it?"""

import json

import pytest

from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS
from firebolt_operator.refs import Manifest
from tests.api.admission.place import HOSTNAME, Place, engine, engine_class, instance
from tests.support.kubectl import kubectl

COMMAND: Manifest = {"spec": {"containers": [{"name": "engine", "command": ["x"]}]}}
CPU: Manifest = {"spec": {"containers": [{"name": "engine", "resources": {"limits": {"cpu": "64"}}}]}}


@pytest.mark.parametrize(
    ("manifest", "said"),
    [
        pytest.param(engine("e", engineClassRef="gone"), 'spec.engineClassRef: Not found: "gone"', id="no-such-class"),
        pytest.param(engine("e", template=COMMAND), "spec.template.spec.containers[0].command: Forbidden", id="owned"),
        pytest.param(engine("e", template=CPU), 'resources.limits.cpu: Invalid value: "64": exceeds', id="bounds"),
        pytest.param(engine("e", drainTimeout="soon"), 'spec.drainTimeout: Invalid value: "soon"', id="duration"),
        pytest.param(engine_class("c", template=HOSTNAME), "spec.template.spec.hostname: Forbidden", id="class"),
        pytest.param(engine_class("c", drainTimeout="x"), "spec.drainTimeout: Invalid value", id="class-duration"),
        pytest.param(
            instance("i", gateway={"template": HOSTNAME}),
            "spec.gateway.template.spec.hostname: Forbidden",
            id="gateway",
        ),
        pytest.param(
            instance("i", gateway={"metricsPort": 9901}), "spec.gateway.metricsPort: Invalid value", id="port"
        ),
        pytest.param(instance("i", tls={"gateway": {"enabled": True}}), "spec.tls.gateway.certManager: Req", id="tls"),
        pytest.param(
            instance("i", auth={"enabled": False, "preferredAuthorizationServer": "x"}),
            "spec.auth.preferredAuthorizationServer: Forbidden",
            id="auth",
        ),
    ],
)
def test_refused(place: Place, manifest: Manifest, said: str) -> None:
    for dry_run in (False, True):
        status, answer = place.create(manifest, dry_run=dry_run)
        message = json.loads(answer)["message"]
        assert (status, said in message) == (403, True), message
        assert "denied the request" in message
    assert place.found(manifest["kind"], manifest["metadata"]["name"]) is None


def test_a_person_sees_every_mistake_at_once(place: Place) -> None:
    document = json.dumps(engine("bad", engineClassRef="gone", template=COMMAND, drainTimeout="soon"))
    with pytest.raises(AssertionError) as failure:
        kubectl(place.plane.kubeconfig, ["apply", "-n", place.namespace, "-f", "-"], stdin=document)
    assert (
        'admission webhook "vfireboltengine.compute.firebolt.io" denied the request: [spec.engineClassRef: Not found:'
        ' "gone", spec.template.spec.containers[0].command: Forbidden: engine container command is operator-owned,'
        ' spec.drainTimeout: Invalid value: "soon": "soon" is not a duration; write it like 30s or 1h30m]'
    ) in str(failure.value)


def test_class_and_engine_of_one_file_are_taken(place: Place) -> None:
    file = json.dumps(engine_class("together")) + "\n---\n" + json.dumps(engine("together", engineClassRef="together"))
    kubectl(place.plane.kubeconfig, ["apply", "-n", place.namespace, "-f", "-"], stdin=file)
    status, answer = place.delete("FireboltEngineClass", "together")
    assert (status, "is referenced by 1 FireboltEngine(s)" in answer) == (403, True), answer
    found = place.found("FireboltEngineClass", "together")
    assert found is not None
    assert "deletionTimestamp" not in found["metadata"]


def test_what_a_schema_cannot_say_is_filled_in(place: Place) -> None:
    made = place.made(instance("with-id"))
    assert (len(made["spec"]["id"]), made["spec"]["id"].upper()) == (26, made["spec"]["id"])
    assert place.made(instance("own-id", id="mine"))["spec"]["id"] == "mine"
    assert FINALIZER_ENGINE_CLASS in place.made(engine_class("guarded"))["metadata"]["finalizers"]


def test_warnings_reach_the_person(place: Place) -> None:
    policy = {"activeReplicas": 1, "timeZone": "Mars/Phobos"}
    (warning,) = place.warnings(engine("e", autoStop=policy))
    assert "is no time zone" in warning


def test_the_scale_subresource_is_judged_and_works(place: Place) -> None:
    place.made(engine("scaled"))
    status, answer = place.patch("FireboltEngine", "scaled", {"spec": {"replicas": 2}}, "scale")
    assert status == 200, answer


def test_a_large_engine_can_be_changed(place: Place) -> None:
    """What decides whether the operator is asked at all has a budget; a large object must not use it up."""
    many = {f"key{number}": "x" * 900 for number in range(1000)}
    place.made(engine("large", customEngineConfig=many))
    status, answer = place.patch("FireboltEngine", "large", {"spec": {"customEngineConfig": {"key999": "y"}}})
    assert status == 200, answer[:500]
    status, answer = place.patch("FireboltEngine", "large", {"metadata": {"labels": {"a": "b"}}})
    assert status == 200, answer[:500]
