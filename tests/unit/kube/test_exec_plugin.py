"""What becomes of the program that a kubeconfig names for credentials?"""

import asyncio
import json
import stat
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from firebolt_operator.errors import ConfigurationError, TransientError
from firebolt_operator.kube.exec_plugin import ExecCommand, ExecPlugin
from firebolt_operator.kube.tls import Trust

V1 = "client.authentication.k8s.io/v1"
TRUST = Trust(authorities=None, is_insecure=True)

SCRIPT = """#!{python}
import json, os, pathlib, sys
runs = pathlib.Path(sys.argv[1])
runs.write_text(runs.read_text() + "x" if runs.exists() else "x")
runs.with_suffix(".info").write_text(os.environ["KUBERNETES_EXEC_INFO"])
token = "token-%d" % len(runs.read_text())
status = {{"token": token, "expirationTimestamp": os.environ.get("EXPIRES")}}
print(json.dumps({{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}}))
"""


class Clock:
    def __init__(self) -> None:
        self.now = 1_767_225_600.0  # 2026-01-01T00:00:00Z

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "plugin"
    path.write_text(SCRIPT.format(python=sys.executable))
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def a_command(script: Path, **env: str) -> ExecCommand:
    return ExecCommand(api_version=V1, argv=(str(script), str(script.with_suffix(".runs"))), env=env)


def shell(text: str, *, deadline_seconds: float = 20.0) -> ExecPlugin:
    command = ExecCommand(api_version=V1, argv=("/bin/sh", "-c", text), env={}, install_hint="install it with care")
    return ExecPlugin(replace(command, deadline_seconds=deadline_seconds), TRUST)


async def shown(plugin: ExecPlugin) -> str:
    return (await plugin.proof()).authorization


async def test_a_token_is_kept_until_it_expires(script: Path) -> None:
    clock = Clock()
    plugin = ExecPlugin(a_command(script, EXPIRES="2026-01-01T00:10:00Z"), TRUST, clock)
    first = await plugin.proof()
    clock.now += 599
    assert await plugin.proof() is first
    clock.now += 1
    second = await plugin.proof()
    assert (first.authorization, second.authorization) == ("Bearer token-1", "Bearer token-2")
    assert first.tls is second.tls  # the same connections serve


async def test_many_callers_start_the_program_once(script: Path) -> None:
    plugin = ExecPlugin(a_command(script), TRUST)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(shown(plugin), name=f"caller-{number}") for number in range(5)]
    assert {task.result() for task in tasks} == {"Bearer token-1"}


async def test_given_a_refused_token_then_the_program_runs_again_but_not_at_once(script: Path) -> None:
    clock = Clock()
    plugin = ExecPlugin(a_command(script), TRUST, clock)
    refused = await plugin.proof()
    assert await plugin.renew(refused) is False
    clock.now += 10
    assert await plugin.renew(refused) is True
    assert await shown(plugin) == "Bearer token-2"
    assert await plugin.renew(refused) is True  # someone else has renewed it already
    assert await shown(plugin) == "Bearer token-2"


async def test_the_program_is_told_what_it_is_asked_for(script: Path) -> None:
    command = replace(a_command(script), cluster={"server": "https://example.invalid"})
    await shown(ExecPlugin(command, TRUST))
    info = json.loads(script.with_suffix(".info").read_text())
    assert info == {
        "apiVersion": V1,
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": {"server": "https://example.invalid"}},
    }


async def test_given_no_program_then_its_name_and_the_hint_are_told() -> None:
    command = ExecCommand(api_version=V1, argv=("/nowhere/helper",), env={}, install_hint="apt install helper")
    with pytest.raises(
        ConfigurationError, match=r"'/nowhere/helper' cannot be started: No such file.*\(apt install helper\)"
    ):
        await ExecPlugin(command, TRUST).proof()


async def test_given_a_failing_program_then_its_words_are_told() -> None:
    with pytest.raises(TransientError, match=r"'/bin/sh' failed with exit code 3: no login \(install it with care\)"):
        await shell("echo no login >&2; exit 3").proof()


async def test_given_a_program_that_hangs_then_it_is_ended() -> None:
    with pytest.raises(TransientError, match=r"did not answer within 0.05 s"):
        await shell("exec sleep 60", deadline_seconds=0.05).proof()


@pytest.mark.parametrize(
    ("output", "words"),
    [
        pytest.param("hello", "did not print an ExecCredential", id="not-json"),
        pytest.param(
            '{"apiVersion": "client.authentication.k8s.io/v1beta1", "status": {"token": "x"}}',
            "printed client.authentication.k8s.io/v1beta1, but the kubeconfig asks for",
            id="another-version",
        ),
        pytest.param(json.dumps({"apiVersion": V1, "status": {}}), "neither a token nor a certificate", id="nothing"),
        pytest.param(
            json.dumps({"apiVersion": V1, "status": {"clientCertificateData": "x"}}),
            "without its key",
            id="half-a-pair",
        ),
    ],
)
async def test_unusable_output_is_a_matter_of_configuration(output: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        await shell(f"echo '{output}'").proof()
