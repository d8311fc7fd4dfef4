"""Every case, as people meet it: the API server asks the operator, and says no in its words."""

import json
from collections.abc import Iterator

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_local.testing.namespaces import empty_namespace, make_namespace
from firebolt_operator.refs import Manifest
from tests.api.admission.place import Place, running_place
from tests.support.admission.all_cases import each
from tests.support.admission.case import Case, count_errors, in_order
from tests.support.admission.deletions import Deletion, each_deletion
from tests.support.admission.world import make_engines, make_world, preset_beside, remove_engines, tell


@pytest.fixture(scope="module")
def judge(control_plane: ControlPlane, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """It looks after nothing here: objects stay as a case says they are."""
    elsewhere = make_namespace(control_plane.http)

    def prepare(place: Place) -> None:
        make_world(control_plane.http, place.namespace, elsewhere)

    values = {"watchLabelSelector": "watched=yes"}
    with running_place(control_plane, tmp_path_factory.mktemp("judge") / "log", prepare, values=values) as place:
        yield place
    empty_namespace(control_plane.http, elsewhere)


def write(judge: Place, case: Case, stored: Manifest | None, *, dry_run: bool) -> tuple[int, str]:
    if stored is None:
        return judge.create(case.manifest("it", judge.namespace), dry_run=dry_run)
    return judge.put({**stored, "spec": case.spec}, dry_run=dry_run)


def stored_before(judge: Place, case: Case) -> Manifest | None:
    if case.before is None:
        return None
    judge.made(case.manifest("it", judge.namespace, case.before))
    if case.status:
        tell(judge.plane.http, case.kind, judge.namespace, "it", case.status)
    return judge.found(case.kind, case.name("it"))


def assert_warned(case: Case, headers: list[str]) -> None:
    told = [header.replace('\\"', '"') for header in headers]
    assert len(told) == len(case.warns), told
    assert all(words in header for words, header in zip(case.warns, told, strict=True)), told


@each()
def test_the_door_says(judge: Place, case: Case) -> None:
    with preset_beside(judge.plane.http, judge.namespace, case):
        assert_answered(judge, case)


def assert_answered(judge: Place, case: Case) -> None:
    stored = stored_before(judge, case)
    try:
        if case.is_accepted and stored is None:
            assert_warned(case, judge.warnings(case.manifest("it", judge.namespace)))
            return
        code, answer = write(judge, case, stored, dry_run=True)
        if case.is_accepted:
            assert code == 200, answer
            return
        message = json.loads(answer)["message"]
        if case.schema:
            assert (code, case.schema in message, "denied the request" in message) == (422, True, False), message
            return
        assert (code, write(judge, case, stored, dry_run=False)) == (403, (code, answer))
        assert message.startswith(f'admission webhook "v{case.kind.lower()}.compute.firebolt.io" denied the request: ')
        assert in_order(message, case.refused), message
        assert count_errors(message) == len(case.refused), message
        assert all(words in message for words in case.says), message
        assert judge.found(case.kind, case.name("it")) == stored
    finally:
        if stored:
            judge.delete(case.kind, case.name("it"))


@each_deletion
def test_the_door_keeps_a_class_in_use(judge: Place, deletion: Deletion) -> None:
    judge.made(deletion.engine_class(judge.namespace))
    engines = deletion.engines(judge.namespace, "default")
    make_engines(judge.plane.http, engines)
    try:
        code, answer = judge.plane.http.text("DELETE", f"{judge.path('FireboltEngineClass', 'used')}?dryRun=All")
        if deletion.bound:
            assert (code, deletion.says in answer, judge.namespace in answer) == (403, True, True), answer
        else:
            assert code == 200, answer
    finally:
        remove_engines(judge.plane.http, judge.namespace, "default")
        judge.delete("FireboltEngineClass", "used")
