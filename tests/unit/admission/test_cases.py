"""Every case through the webhooks themselves, without a server: quick enough to notice every fault."""

import json
from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.policy.bounds import parse_bounds
from tests.support.admission.all_cases import each
from tests.support.admission.case import BOUNDS, Case, count_errors, in_order
from tests.support.admission.engines import CLASSES, CLUSTER_CLASSES, INSTANCE_SPEC, INSTANCE_STATUS
from tests.support.admission.world import PLURALS
from tests.unit.admission.rig import Rig, a_review, message

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def rig() -> AsyncGenerator[Rig]:
    rig = Rig(bounds=parse_bounds(cpu=BOUNDS["cpu"], memory=BOUNDS["memory"], ephemeral_storage=""))
    for name, spec in CLASSES.items():
        rig.reader.put(PLURALS["FireboltEngineClass"], name, spec=spec)
    rig.reader.put(PLURALS["FireboltEngineClass"], "elsewhere", namespace="other", spec={"template": {}})
    for name, spec in CLUSTER_CLASSES.items():
        rig.reader.put(PLURALS["ClusterFireboltEngineClass"], name, namespace="", spec=spec)
    rig.reader.put(PLURALS["FireboltInstance"], "inst", spec=INSTANCE_SPEC, status=INSTANCE_STATUS)
    async with rig:
        yield rig


@each()
async def test_the_webhook_says(rig: Rig, case: Case) -> None:
    if case.schema:
        return
    new = json.loads(json.dumps(case.manifest("it", "ns")))
    old = None if case.before is None else {**case.manifest("it", "ns", case.before), "status": case.status}
    operation = "CREATE" if old is None else "UPDATE"
    rig.reader.bodies.pop((PLURALS["FireboltEnginePreset"], "ns", PRESET_NAME), None)
    if case.preset is not None:
        rig.reader.put(PLURALS["FireboltEnginePreset"], PRESET_NAME, spec=case.preset)
    response = await rig.ask("validate", case.kind.lower(), a_review(PLURALS[case.kind], operation, new, old))
    assert response["allowed"] is case.is_accepted
    told = response.get("warnings", [])
    if case.is_accepted:
        assert len(told) == len(case.warns)
        assert all(words in warning for words, warning in zip(case.warns, told, strict=True))
        return
    text = message(response)
    assert in_order(text, case.refused), text
    assert count_errors(text) == len(case.refused), text
    assert all(words in text for words in case.says), text
