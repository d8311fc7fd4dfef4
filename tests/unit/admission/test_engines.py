"""Which engines does the webhook let through?"""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from firebolt_operator.errors import TransientError
from firebolt_operator.policy.bounds import parse_bounds
from firebolt_operator.refs import Manifest, Ref
from tests.support.deep import with_depth
from tests.unit.admission.rig import MemoryReader, Rig, a_review, an_engine, message

BOUNDS = parse_bounds(cpu="32", memory="", ephemeral_storage="", replicas=3)
COMMAND = {"spec": {"containers": [{"name": "engine", "command": ["x"]}]}}
CLASSES = "fireboltengineclasses"
DELETING = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
GATEWAY = {"userInfo": {"username": "system:serviceaccount:ns:inst-gateway"}}


@pytest.fixture
async def rig() -> AsyncGenerator[Rig]:
    async with Rig(bounds=BOUNDS) as rig:
        yield rig


def created(engine: Manifest, **request: Any) -> Manifest:
    return a_review("fireboltengines", "CREATE", engine, **request)


def updated(old: Manifest, new: Manifest, **request: Any) -> Manifest:
    return a_review("fireboltengines", "UPDATE", new, old, **request)


async def ask(rig: Rig, review: Manifest | bytes) -> Manifest:
    return await rig.ask("validate", "fireboltengine", review)


async def test_a_plain_engine_passes(rig: Rig) -> None:
    response = await ask(rig, created(an_engine()))
    assert response == {"uid": "asked", "allowed": True, "status": {"metadata": {}, "code": 200}}
    assert rig.notes.ended_with == [200]


async def test_a_dry_run_is_judged_like_any_other(rig: Rig) -> None:
    assert not (await ask(rig, created(an_engine(template=COMMAND), dryRun=True)))["allowed"]
    assert (await ask(rig, created(an_engine(), dryRun=True)))["allowed"]


async def test_all_mistakes_are_told_at_once(rig: Rig) -> None:
    response = await ask(
        rig, created(an_engine(engineClassRef="gone", template=COMMAND, replicas=4, drainTimeout="soon"))
    )
    assert response["status"]["code"] == 403
    assert response["status"]["reason"] == "Forbidden"
    assert message(response) == (
        '[spec.engineClassRef: Not found: "gone", '
        "spec.template.spec.containers[0].command: Forbidden: engine container command is operator-owned, "
        'spec.drainTimeout: Invalid value: "soon": "soon" is not a duration; write it like 30s or 1h30m, '
        "spec.replicas: Invalid value: 4: exceeds operator-configured maximum 3]"
    )


async def test_its_class_is_looked_up_in_its_own_namespace(rig: Rig) -> None:
    rig.reader.put(CLASSES, "large", namespace="elsewhere", spec={"template": {}})
    assert "Not found" in message(await ask(rig, created(an_engine(engineClassRef="large"))))
    rig.reader.put(CLASSES, "large", spec={"template": {}})
    assert (await ask(rig, created(an_engine(engineClassRef="large"))))["allowed"]


async def test_an_inherited_excess_names_the_class(rig: Rig) -> None:
    engine = {"name": "engine", "resources": {"limits": {"cpu": "64"}}}
    rig.reader.put(CLASSES, "large", spec={"template": {"spec": {"containers": [engine]}}})
    assert message(await ask(rig, created(an_engine(engineClassRef="large")))) == (
        'spec.template.spec.containers[engine].resources.limits.cpu: Invalid value: "64": exceeds operator-configured'
        ' maximum 32 (inherited from FireboltEngineClass "large"; set spec.template on this engine to override)'
    )


async def test_a_class_that_cannot_be_read_fails_closed(rig: Rig) -> None:
    rig.reader.failure = TransientError("the server is away")
    told = message(await ask(rig, created(an_engine(engineClassRef="large"))))
    assert told == "spec.engineClassRef: Internal error: the server is away"
    assert (await ask(rig, created(an_engine())))["allowed"]


async def test_a_class_that_is_being_deleted_takes_no_engine_that_it_does_not_have(rig: Rig) -> None:
    rig.reader.put(CLASSES, "large", metadata=DELETING, spec={"template": {}})
    bound, free = an_engine(engineClassRef="large"), an_engine()
    assert "is being deleted" in message(await ask(rig, created(bound)))
    assert "is being deleted" in message(await ask(rig, updated(free, bound)))
    assert (await ask(rig, updated(bound, an_engine(engineClassRef="large", replicas=2))))["allowed"]
    assert (await ask(rig, updated(bound, free)))["allowed"]


async def test_a_secret_of_its_instance_is_not_mounted(rig: Rig) -> None:
    signing = {"id": "1", "secretName": "key-secret", "createdAt": "2026-01-01T00:00:00Z"}
    rig.reader.put(
        "fireboltinstances",
        "inst",
        spec={"metadata": {}, "gateway": {}},
        status={"auth": {"signingKeys": [signing]}},
    )
    template = {"spec": {"volumes": [{"name": "fine", "secret": {"secretName": "key-secret"}}]}}
    assert message(await ask(rig, created(an_engine(template=template)))).startswith(
        "spec.template.spec.volumes[0]: Forbidden"
    )


async def test_an_engine_whose_class_is_gone_can_still_be_labelled_and_ended(rig: Rig) -> None:
    """Nothing of its spec changes, so that nothing of it is judged."""
    old = an_engine(engineClassRef="gone", template=COMMAND, metadata={"finalizers": ["x"]})
    new = an_engine(engineClassRef="gone", template=COMMAND, metadata={"labels": {"a": "b"}})
    assert (await ask(rig, updated(old, new)))["allowed"]
    assert not (await ask(rig, updated(old, an_engine(engineClassRef="gone", replicas=2))))["allowed"]


async def test_warnings_are_told_and_refuse_nothing(rig: Rig) -> None:
    policy = {"activeReplicas": 1, "timeZone": "Mars/Phobos", "schedule": [{"start": "08:00", "end": "09:00"}]}
    response = await ask(rig, created(an_engine(replicas=0, autoStop=policy)))
    assert response["allowed"]
    assert len(response["warnings"]) == 2
    assert all(len(warning) <= 256 for warning in response["warnings"])


async def test_no_more_nodes_than_allowed_through_the_scale_subresource(rig: Rig) -> None:
    def scaled(replicas: object) -> Manifest:
        return updated({"spec": {"replicas": 1}}, {"spec": {"replicas": replicas}}, subResource="scale")

    assert (await ask(rig, scaled(3)))["allowed"]
    assert "maximum 3" in message(await ask(rig, scaled(4)))
    assert (await ask(rig, scaled("many")))["status"]["code"] == 400


async def test_a_gateway_stamps_and_does_nothing_else(rig: Rig) -> None:
    stamped = an_engine(metadata={"annotations": {"firebolt.io/wake-requested": "2026-01-01T00:00:00Z"}})
    assert (await ask(rig, updated(an_engine(), stamped, **GATEWAY)))["allowed"]
    told = message(await ask(rig, updated(an_engine(), an_engine(replicas=2), **GATEWAY)))
    assert told == "spec: Forbidden: a gateway may not change an engine's spec"
    assert "finalizers" in message(
        await ask(rig, updated(an_engine(), an_engine(metadata={"finalizers": ["x"]}), **GATEWAY))
    )
    assert "neither create" in message(await ask(rig, created(an_engine(), **GATEWAY)))


async def test_a_gateways_custom_account_is_known_from_its_list(rig: Rig) -> None:
    account = {"userInfo": {"username": "system:serviceaccount:ns:custom"}}
    wider = an_engine(replicas=2)
    assert (await ask(rig, updated(an_engine(), wider, **account)))["allowed"]
    rig.reader.put("configmaps", "inst-gateway-accounts", data={"accounts": "inst-gateway\ncustom\n"})
    assert not (await ask(rig, updated(an_engine(), wider, **account)))["allowed"]


async def test_nothing_is_read_to_tell_people_from_gateways(rig: Rig) -> None:
    await ask(rig, updated(an_engine(), an_engine(metadata={"labels": {"a": "b"}})))
    assert rig.reader.requests == []


@pytest.mark.parametrize(
    "engine",
    [
        pytest.param({"metadata": {"name": "it"}, "spec": {"instanceRef": 5}}, id="wrong-type"),
        pytest.param({"metadata": {"name": "it"}, "spec": []}, id="a-list"),
        pytest.param({"spec": {}}, id="no-metadata"),
        pytest.param(["no", "object"], id="no-object"),
        pytest.param("text", id="text"),
    ],
)
async def test_what_is_no_engine_is_a_bad_request(rig: Rig, engine: Manifest) -> None:
    response = await ask(rig, created(engine))
    assert (response["allowed"], response["status"]["code"]) == (False, 400)


async def test_an_object_nested_too_deeply_is_refused_and_one_that_was_can_be_mended(rig: Rig) -> None:
    deep = with_depth(created(an_engine()), "request", "object", "spec", "customEngineConfig")
    response = await ask(rig, deep)
    assert (response["status"]["code"], "nested very deeply" in message(response)) == (400, True)
    mended = with_depth(updated(an_engine(), an_engine()), "request", "oldObject", "spec", "customEngineConfig")
    assert (await ask(rig, mended))["allowed"]


async def test_a_verdict_that_takes_too_long_is_a_refusal() -> None:
    class Silent(MemoryReader):
        async def get_raw(self, ref: Ref, /) -> bytes | None:
            await asyncio.Event().wait()
            return await super().get_raw(ref)

    async with Rig(reader=Silent(), deadline_seconds=0.05) as rig:
        assert "no verdict within" in message(await ask(rig, created(an_engine(engineClassRef="large"))))


async def test_a_crash_is_an_answer_as_well() -> None:
    class Broken(MemoryReader):
        async def get_raw(self, ref: Ref, /) -> bytes | None:
            raise RuntimeError(f"a bug about {ref}")

    async with Rig(reader=Broken()) as rig:
        response = await ask(rig, created(an_engine(engineClassRef="large")))
        assert (response["status"]["code"], rig.notes.ended_with, rig.notes.under_way) == (500, [500], 0)
