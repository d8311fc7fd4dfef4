import msgspec
import pytest

from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.renderer import EngineRenderer, MemoisedRenderer
from firebolt_operator.engine.views import Child, decode_child
from firebolt_operator.reconciling import memo
from firebolt_operator.reconciling.memo import LastValueMemo
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_inputs


class Oracle:
    def __init__(self) -> None:
        self.answers: LastValueMemo[int] = LastValueMemo()
        self.asked = 0

    def ask(self, subject: str, question: object) -> int:
        return self.answers.value(subject, question, self._find)

    def _find(self) -> int:
        self.asked += 1
        return self.asked


def test_the_same_question_is_answered_once_for_each_subject() -> None:
    oracle = Oracle()
    assert [oracle.ask("a", {"x": 1}), oracle.ask("a", {"x": 1}), oracle.ask("b", {"x": 1})] == [1, 1, 2]


@pytest.mark.parametrize("other", [{"x": 2}, {"x": True}, {"x": 1.0}, {"x": "1"}, {"x": 1, "y": None}, [{"x": 1}]])
def test_whatever_differs_in_json_is_another_question(other: object) -> None:
    oracle = Oracle()
    oracle.ask("a", {"x": 1})
    assert oracle.ask("a", other) == 2


def test_only_the_last_question_is_remembered() -> None:
    oracle = Oracle()
    assert [oracle.ask("a", question) for question in (1, 2, 1)] == [1, 2, 3]


def test_those_that_changed_longest_ago_are_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo, "MOST_REMEMBERED", 2)
    oracle = Oracle()
    for subject in ("a", "b", "c"):
        oracle.ask(subject, 1)
    assert [oracle.ask("c", 1), oracle.ask("b", 1), oracle.ask("a", 1)] == [3, 2, 4]


class TestDrift:
    """A remembered blueprint says what a forgetful one says, whatever changes between two looks."""

    def test_given_nothing_new_then_nothing_is_compared_again(self, monkeypatch: pytest.MonkeyPatch) -> None:
        inputs, renderer = engine_inputs(), MemoisedRenderer()
        child = stored(inputs)
        renderer(inputs).drift(child)

        def compared(_self: EngineRenderer, _statefulset: Child) -> str | None:
            pytest.fail("compared again")

        monkeypatch.setattr(EngineRenderer, "drift", compared)
        assert renderer(engine_inputs()).drift(stored(inputs)) is None

    @pytest.mark.parametrize(
        "edit",
        [
            {"replicas": 3},
            {"template": {"metadata": {"labels": {"team": "a"}}}},
            {"customEngineConfig": {"cache": {"on": True}}},
        ],
        ids=["replicas", "template", "config"],
    )
    def test_given_an_edit_then_it_is_seen_and_its_undoing_too(self, edit: Manifest) -> None:
        before, after, renderer = engine_inputs(), engine_inputs(edit), MemoisedRenderer()
        child = stored(before)
        drifts = [renderer(inputs).drift(child) for inputs in (before, after, before)]
        assert drifts == [None, EngineRenderer(after).drift(child), None]
        assert drifts[1] is not None

    def test_given_a_value_that_python_takes_for_equal_then_it_is_seen(self) -> None:
        number = engine_inputs({"customEngineConfig": {"cache": {"on": 1}}})
        truth = engine_inputs({"customEngineConfig": {"cache": {"on": True}}})
        renderer = MemoisedRenderer()
        child = stored(number)
        assert renderer(number).drift(child) is None
        assert renderer(truth).drift(child) is not None

    def test_given_a_statefulset_that_somebody_changed_then_it_is_seen(self) -> None:
        inputs, renderer = engine_inputs(), MemoisedRenderer()
        child = stored(inputs)
        scaled = msgspec.structs.replace(child, spec=child.spec | {"replicas": 9})
        blueprint = renderer(inputs)
        assert (blueprint.drift(child), blueprint.drift(scaled)) == (None, EngineRenderer(inputs).drift(scaled))


def stored(inputs: EngineInputs) -> Child:
    """The StatefulSet of generation 0, as a cache holds it."""
    return decode_child(msgspec.json.encode(EngineRenderer(inputs).statefulset(0)))
