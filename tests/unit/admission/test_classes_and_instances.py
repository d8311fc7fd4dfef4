"""Which classes and instances does the webhook let through, and what does it fill in?"""

from collections.abc import AsyncGenerator

import pytest

from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS
from firebolt_operator.errors import TransientError
from firebolt_operator.refs import Manifest
from tests.support.deep import with_depth
from tests.unit.admission.rig import (
    NEW_ID,
    WATCHED,
    Rig,
    a_class,
    a_review,
    an_engine,
    an_instance,
    message,
    patch_of,
    path_of,
)

CLASSES, INSTANCES = "fireboltengineclasses", "fireboltinstances"
HOSTNAME = {"spec": {"hostname": "x"}}
GUARDED = {"labels": WATCHED, "finalizers": [FINALIZER_ENGINE_CLASS]}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with Rig() as rig:
        yield rig


async def class_verdict(rig: Rig, operation: str, new: Manifest | None, old: Manifest | None = None) -> Manifest:
    return await rig.ask("validate", "fireboltengineclass", a_review(CLASSES, operation, new, old))


async def instance_verdict(rig: Rig, operation: str, new: Manifest | None, old: Manifest | None = None) -> Manifest:
    return await rig.ask("validate", "fireboltinstance", a_review(INSTANCES, operation, new, old))


async def test_owned_fields_of_a_class_are_refused_unless_they_were_there_before(rig: Rig) -> None:
    bad = a_class(template=HOSTNAME)
    told = "spec.template.spec.hostname: Forbidden: hostname is owned by the operator"
    assert message(await class_verdict(rig, "CREATE", bad)) == told
    assert message(await class_verdict(rig, "UPDATE", bad, a_class())) == told
    assert (await class_verdict(rig, "UPDATE", a_class(template=HOSTNAME, metadata={"labels": {"a": "b"}}), bad))[
        "allowed"
    ]
    assert (await class_verdict(rig, "CREATE", a_class()))["allowed"]


async def test_a_class_with_engines_is_not_deleted(rig: Rig) -> None:
    for name in ("one", "two"):
        rig.reader.put("fireboltengines", name, spec={"instanceRef": "i", "engineClassRef": "it"})
    rig.reader.put("fireboltengines", "other-class", spec={"instanceRef": "i", "engineClassRef": "that"})
    rig.reader.put("fireboltengines", "far", namespace="elsewhere", spec={"instanceRef": "i", "engineClassRef": "it"})
    told = message(await class_verdict(rig, "DELETE", None, a_class(metadata=GUARDED)))
    assert told == (
        'metadata.name: Forbidden: FireboltEngineClass "it" in namespace "ns" is referenced by 2 FireboltEngine(s);'
        " clear spec.engineClassRef on those engines before deleting the class"
    )


async def test_a_class_without_engines_is_deleted(rig: Rig) -> None:
    rig.reader.put("fireboltengines", "far", namespace="elsewhere", spec={"instanceRef": "i", "engineClassRef": "it"})
    assert (await class_verdict(rig, "DELETE", None, a_class(metadata=GUARDED)))["allowed"]


async def test_when_engines_cannot_be_listed_then_no_class_is_deleted(rig: Rig) -> None:
    rig.reader.failure = TransientError("the server is away")
    assert "the server is away" in message(await class_verdict(rig, "DELETE", None, a_class(metadata=GUARDED)))


async def test_a_class_that_the_operator_does_not_guard_yet_is_not_deleted(rig: Rig) -> None:
    assert "try again" in message(await class_verdict(rig, "DELETE", None, a_class(metadata={"labels": WATCHED})))
    assert (await class_verdict(rig, "DELETE", None, a_class()))["allowed"], "nobody will ever guard this one"
    deleting = a_class(metadata={"labels": WATCHED, "deletionTimestamp": "2026-01-01T00:00:00Z"})
    assert (await class_verdict(rig, "DELETE", None, deleting))["allowed"]


async def test_a_class_that_cannot_be_decoded_can_be_deleted(rig: Rig) -> None:
    review = a_review(CLASSES, "DELETE", None, a_class(metadata=GUARDED))
    deep = with_depth(review, "request", "oldObject", "spec", "customEngineConfig")
    assert (await rig.ask("validate", "fireboltengineclass", deep))["allowed"]


@pytest.mark.parametrize(
    ("metadata", "patch"),
    [
        pytest.param(
            {"labels": WATCHED},
            [{"op": "add", "path": "/metadata/finalizers", "value": [FINALIZER_ENGINE_CLASS]}],
            id="none-yet",
        ),
        pytest.param(
            {"labels": WATCHED, "finalizers": ["theirs"]},
            [{"op": "add", "path": "/metadata/finalizers/-", "value": FINALIZER_ENGINE_CLASS}],
            id="beside-others",
        ),
        pytest.param(GUARDED, [], id="there-already"),
        pytest.param({}, [], id="a-class-that-nobody-looks-after"),
    ],
)
async def test_a_class_is_guarded_from_the_start(rig: Rig, metadata: Manifest, patch: list[Manifest]) -> None:
    review = a_review(CLASSES, "CREATE", a_class(metadata=metadata))
    response = await rig.ask("mutate", "fireboltengineclass", review)
    assert (response["allowed"], patch_of(response)) == (True, patch)


@pytest.mark.parametrize(
    ("spec", "is_given"),
    [({}, True), ({"id": ""}, True), ({"id": None}, True), ({"id": "my-custom-id"}, False)],
)
async def test_an_instance_without_an_id_gets_one(rig: Rig, spec: Manifest, is_given: bool) -> None:
    response = await rig.ask("mutate", "fireboltinstance", a_review(INSTANCES, "CREATE", an_instance(**spec)))
    assert patch_of(response) == ([{"op": "add", "path": "/spec/id", "value": NEW_ID}] if is_given else [])


async def test_an_instance_for_which_a_database_may_have_been_kept_gets_no_id_of_ours(rig: Rig) -> None:
    """The id of that database is its own, and the controller takes it over."""
    review = a_review(INSTANCES, "CREATE", an_instance())
    rig.reader.put("secrets", "it-metadata-postgres-creds", namespace="elsewhere")
    assert patch_of(await rig.ask("mutate", "fireboltinstance", review)) != []
    rig.reader.put("secrets", "it-metadata-postgres-creds")
    assert patch_of(await rig.ask("mutate", "fireboltinstance", review)) == []


async def test_when_nobody_can_tell_what_was_kept_then_the_id_is_left_to_the_controller(rig: Rig) -> None:
    rig.reader.failure = TransientError("the server is away")
    response = await rig.ask("mutate", "fireboltinstance", a_review(INSTANCES, "CREATE", an_instance()))
    assert (response["allowed"], patch_of(response)) == (True, [])


@pytest.mark.parametrize("instance", [{"spec": None}, {}, [], "x", {"spec": {"id": 5}}])
async def test_what_is_malformed_is_not_changed_and_not_refused_by_those_who_change(
    rig: Rig, instance: Manifest
) -> None:
    for kind, plural in (("fireboltinstance", INSTANCES), ("fireboltengineclass", CLASSES)):
        response = await rig.ask("mutate", kind, a_review(plural, "CREATE", instance))
        assert (response["allowed"], patch_of(response)) == (True, [])
    deep = with_depth(a_review(INSTANCES, "CREATE", an_instance()), "request", "object", "spec", "x")
    assert (await rig.ask("mutate", "fireboltinstance", deep))["allowed"]


async def test_an_update_is_not_defaulted(rig: Rig) -> None:
    review = a_review(INSTANCES, "UPDATE", an_instance(), an_instance(id="a"))
    assert patch_of(await rig.ask("mutate", "fireboltinstance", review)) == []


async def test_an_instance_is_told_all_its_mistakes(rig: Rig) -> None:
    bad = an_instance(
        gateway={"template": HOSTNAME, "metricsPort": 9901},
        metadata={"replicas": 2},
        auth={"enabled": False, "preferredAuthorizationServer": "x"},
        tls={"gateway": {"enabled": True}},
    )
    response = await instance_verdict(rig, "CREATE", bad)
    assert [part.partition(":")[0] for part in message(response).strip("[]").split(", spec.")] == [
        "spec.metadata.replicas",
        "gateway.template.spec.hostname",
        "gateway.metricsPort",
        "auth.preferredAuthorizationServer",
        "tls.gateway.certManager",
    ]
    assert (await instance_verdict(rig, "UPDATE", bad, bad))["allowed"]
    assert (await instance_verdict(rig, "DELETE", None, bad))["allowed"]


async def test_what_is_written_once_is_not_changed(rig: Rig) -> None:
    def with_issuer(name: str) -> Manifest:
        return an_instance(tls={"engine": {"enabled": True, "certManager": {"issuerRef": {"name": name}}}})

    told = message(await instance_verdict(rig, "UPDATE", with_issuer("ca-2"), with_issuer("ca-1")))
    assert told.startswith("spec.tls.engine.certManager.issuerRef: Invalid value")


async def test_a_gateway_does_not_run_as_the_operator(rig: Rig) -> None:
    bad = an_instance(gateway={"template": {"spec": {"serviceAccountName": "operator"}}})
    assert "the operator's own account" in message(await instance_verdict(rig, "CREATE", bad))


@pytest.mark.parametrize(
    ("body", "content_type", "code"),
    [
        pytest.param(b"", "application/json", 400, id="empty"),
        pytest.param(b"{", "application/json", 400, id="no-json"),
        pytest.param(b"{}", "application/json", 400, id="no-request"),
        pytest.param(b'{"request": {"uid": "x"}}', "application/json", 400, id="half-a-request"),
        pytest.param(b'{"request": 5}', "application/json", 400, id="no-object"),
        pytest.param(b"\xff\xfe", "application/json", 400, id="no-text"),
        pytest.param(b"[" * 100_000, "application/json", 400, id="brackets"),
        pytest.param(b"{}", "text/plain", 400, id="other-type"),
        pytest.param(b"x" * (7 * 1024 * 1024 + 1), "application/json", 413, id="too-long"),
    ],
)
async def test_whatever_comes_in_a_review_goes_out(rig: Rig, body: bytes, content_type: str, code: int) -> None:
    status, document = await rig.post(path_of("validate", "fireboltengine"), body, content_type)
    assert (status, document["response"]["allowed"], document["response"]["status"]["code"]) == (200, False, code)


async def test_a_path_answers_for_its_own_kind_only(rig: Rig) -> None:
    response = await rig.ask("validate", "fireboltinstance", a_review("fireboltengines", "CREATE", an_engine()))
    assert response["status"]["code"] == 400
