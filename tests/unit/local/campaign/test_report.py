"""Does the report tell what was tried, what broke and how to see it again, and does a campaign go on where it was?"""

from pathlib import Path

import pytest

from firebolt_local.campaign.faults.cases import cases_of_events, cases_of_writes, parse_case
from firebolt_local.campaign.faults.fault import Harm
from firebolt_local.campaign.faults.requests import RequestKind, RequestName
from firebolt_local.campaign.report.comparison import compare
from firebolt_local.campaign.report.page import Told, page
from firebolt_local.campaign.report.results import Outcome, Result, ResultFile, counted, read_results
from firebolt_local.campaign.stories.operator_process import command_line
from firebolt_local.errors import LocalError

LINE = "scale: cut-after patch statefulsets 1"
TOLD = Told("run <it>", 90.0, "firebolt-local campaign --only")


def a_result(line: str = LINE, outcome: Outcome = Outcome.GOOD, *problems: str) -> Result:
    return Result(part="faults", line=line, outcome=outcome, problems=problems)


def test_results_are_read_back_and_the_last_word_counts(tmp_path: Path) -> None:
    path = tmp_path / "deeper" / "results.jsonl"
    file = ResultFile(path)
    file.add(a_result(LINE, Outcome.BROKEN, "lost"))
    file.add(a_result())
    file.close()
    with path.open("a") as cut_short:
        cut_short.write('{"part": "fau')
    assert read_results(path) == {LINE: a_result()}


def test_nothing_is_known_of_a_campaign_that_has_not_begun(tmp_path: Path) -> None:
    assert read_results(tmp_path / "results.jsonl") == {}


def test_results_are_counted_by_kind() -> None:
    results = [a_result(), a_result("stop: cut-after delete pods 1", Outcome.BROKEN)]
    assert counted(results) == {("faults", "cut-after"): {Outcome.GOOD: 1, Outcome.BROKEN: 1}}


def test_the_page_shows_what_broke_and_the_line_that_shows_it_again() -> None:
    shown = page({LINE: a_result(LINE, Outcome.BROKEN, "Pod <x> is missing")}, TOLD)
    assert "1 cases, 1 broken" in shown
    assert "Pod &lt;x&gt; is missing" in shown
    assert "firebolt-local campaign --only &#x27;scale: cut-after patch statefulsets 1&#x27;" in shown


def test_the_page_counts_what_was_done() -> None:
    chain = Result(part="edits", line="edits: x", outcome=Outcome.GOOD, counts={"edits": 4, "undone": 1})
    shown = page({LINE: a_result(), chain.line: chain}, TOLD)
    assert "<li>edits: 4</li>" in shown
    assert "<li>end states compared: 1</li>" in shown


def test_two_reports_are_compared() -> None:
    other, untried = "stop: 500 patch services 1", "stop: 500 patch services 2"
    before = {LINE: a_result(), other: a_result(other, Outcome.BROKEN), untried: a_result(untried, Outcome.BROKEN)}
    now = {LINE: a_result(LINE, Outcome.BROKEN), other: a_result(other)}
    changes = compare(now, before)
    assert (changes.newly_broken, changes.mended) == ((LINE,), (other,))
    assert "Mended since: 1" in page(now, TOLD, changes)


def test_every_write_gets_every_fault_that_it_can_meet() -> None:
    names = [
        RequestName(RequestKind("create", "events"), 1),
        RequestName(RequestKind("patch", "services"), 1),
        RequestName(RequestKind("update", "leases"), 1),
        RequestName(RequestKind("get", "pods"), 1),
    ]
    lines = [str(case) for case in cases_of_writes("stop", names, (Harm.KILL_AFTER, Harm.CONFLICT))]
    assert lines == [
        "stop: kill-after create events 1",
        "stop: kill-after patch services 1",
        "stop: 409 patch services 1",
    ]


def test_every_event_is_late_by_three_measures() -> None:
    names = [RequestName(RequestKind("watch", kind), 1) for kind in ("pods", "pods/bookmark")]
    late = [str(case) for case in cases_of_events("stop", names) if case.fault.harm is Harm.LATE]
    assert late == [f"stop: late={seconds} watch pods 1" for seconds in (1, 5, 30)]


def test_a_line_is_a_case() -> None:
    assert str(parse_case(LINE)) == LINE
    with pytest.raises(LocalError):
        parse_case("cut-after patch statefulsets 1")


def test_a_command_gets_what_belongs_to_the_run() -> None:
    words = command_line("op --in={namespace} 'a b' {kubeconfig}", kubeconfig=Path("/k"), namespace="shop")
    assert words == ["op", "--in=shop", "a b", "/k"]
    with pytest.raises(LocalError):
        command_line("op", kubeconfig=Path("/k"), namespace="shop")
