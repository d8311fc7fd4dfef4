"""Is a campaign that nobody can run refused before anything is started, in one sentence?"""

from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_local.campaign.command import summary
from firebolt_local.campaign.plan import Plan
from firebolt_local.campaign.report.results import Outcome, Result
from firebolt_local.main import main


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--only", "scale: burn patch pods 1"], "is no fault"),
        (["--only", "sleep: 500 patch pods 1"], "there is no chapter 'sleep'"),
        (["--only", "edits: FireboltEngine spec.colour legal"], "is no edit"),
        (["--chapter", "sleep"], "there is no chapter 'sleep'"),
        (["--start", "operator"], "{namespace}"),
        (["--against", "/nonexistent/results.jsonl"], "has no results"),
    ],
)
def test_it_is_said_what_is_wrong(
    flags: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["campaign", "--into", str(tmp_path / "results"), *flags]) == 1
    assert words in capsys.readouterr().err


def test_only_a_story_that_needs_certificates_gets_somebody_who_issues_them() -> None:
    some = Plan(start="", start_leaders="", places=1, chapters=("scale", "rotate"))
    assert some.needs_certificates()
    assert not replace(some, chapters=("scale",)).needs_certificates()
    assert not replace(some, parts=("edits",)).needs_certificates()
    assert not replace(some, only=("scale: 500 patch services 1",)).needs_certificates()
    assert replace(some, only=("rotate: 500 patch certificates 1",)).needs_certificates()


def test_a_line_that_is_tried_ten_times_says_how_often_it_broke(capsys: pytest.CaptureFixture[str]) -> None:
    line = "scale: 500 patch services 1"
    results = [Result(part="faults", line=line, outcome=Outcome.BROKEN) for _ in range(10)]
    assert summary(results, Path("report.html")) == 1
    assert f"broken 10 of 10: {line}\n" in capsys.readouterr().out
    assert summary([Result(part="faults", line=line, outcome=Outcome.GOOD)], Path("report.html")) == 0


def test_a_part_that_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["campaign", "--part", "everything"])
    assert ended.value.code == 2
