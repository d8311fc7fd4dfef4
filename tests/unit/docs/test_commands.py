"""Are the commands of the pages right, as far as one can tell without a cluster?"""

import re
import subprocess
from pathlib import Path

import pytest
import typer.main

from kubectl_firebolt.main import app
from tests.support.docs_blocks import REPOSITORY, Block, blocks, scripts, words_of

SCRIPTS = scripts()
COMMANDS = [(str(block), words) for block in SCRIPTS for words in words_of(block.text) if words]
TARGETS = set(re.findall(r"^([a-z0-9-]+):", (REPOSITORY / "Makefile").read_text(), re.MULTILINE))
PLUGIN = typer.main.get_command(app)
IN_THE_REPOSITORY = re.compile(r"^(?:charts|config|examples|gitops|tests|scripts|bench)/")


@pytest.mark.parametrize("block", SCRIPTS, ids=str)
def test_a_shell_understands_it(block: Block) -> None:
    done = subprocess.run(["bash", "-n"], input=block.text, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("block", [block for block in blocks() if block.language == "python"], ids=str)
def test_python_understands_it(block: Block) -> None:
    compile(block.text, str(block), "exec")


def test_make_knows_every_target_that_is_called() -> None:
    called = {(place, word) for place, words in COMMANDS if words[0] == "make" for word in words[1:] if "=" not in word}
    assert len(called) > 10
    assert {(place, target) for place, target in called if target not in TARGETS} == set()


def test_files_of_the_repository_that_commands_name_exist() -> None:
    named = {
        (place, word)
        for place, words in COMMANDS
        for word in words
        if IN_THE_REPOSITORY.match(word) and "{{" not in word
    }
    assert len(named) > 10
    assert {(place, path) for place, path in named if not (REPOSITORY / path).exists()} == set()


def test_kubectl_firebolt_knows_every_command_and_flag_that_is_used() -> None:
    used = [(place, words[2:]) for place, words in COMMANDS if words[:2] == ["kubectl", "firebolt"]]
    assert len(used) > 10
    assert [f"{place}: {word}" for place, words in used for word in _unknown(words)] == []


def test_after_setup_nobody_is_told_to_call_what_is_not_on_the_path() -> None:
    """`make setup` installs requirements only: in a clone the local cluster is a module."""
    told = {place for place, words in COMMANDS if words[0] == "firebolt-local"}
    assert {place for place in told if not place.startswith("docs/dev/")} == set()


def _unknown(words: list[str]) -> list[str]:
    """What of these words typer has never heard of."""
    command: object = PLUGIN
    flags = {"--help", "--version"} | _flags(PLUGIN)
    for word in words:
        if inner := getattr(command, "commands", {}).get(word):
            command = inner
            flags |= _flags(inner)
        elif getattr(command, "commands", {}) and not word.startswith("-"):
            return [word]
        else:
            break
    return [word for word in words if word.startswith("-") and word.partition("=")[0] not in flags]


def _flags(command: object) -> set[str]:
    return {flag for parameter in getattr(command, "params", ()) for flag in parameter.opts}


def test_given_what_is_wrong_then_it_is_found() -> None:
    assert _unknown(["engine", "lst"]) == ["lst"]
    assert _unknown(["engine", "list", "--instanec", "demo"]) == ["--instanec"]
    assert list(words_of("make a && X=1 helm b \\\n  c | d")) == [["make", "a"], ["helm", "b", "c"], ["d"]]
    assert Path("docs/quickstart.md") in {Path(block.page) for block in SCRIPTS}
