"""Is a campaign that nobody can run refused before anything is started, in one sentence?"""

from pathlib import Path

import pytest

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


def test_a_part_that_does_not_exist_is_wrong_usage() -> None:
    with pytest.raises(SystemExit) as ended:
        main(["campaign", "--part", "everything"])
    assert ended.value.code == 2
