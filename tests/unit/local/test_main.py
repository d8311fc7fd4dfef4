"""Does every refusal name its way out, with the right exit code, before anything runs?"""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from firebolt_local.main import main
from tests.support.child_processes import python_environment


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return tmp_path / "state" / "firebolt-local"


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param([], id="no-command"),
        pytest.param(["sideways"], id="unknown-command"),
        pytest.param(["up", "--control-plane", "--existing"], id="two-kinds"),
        pytest.param(["up", "--existing", "--simulated-pods"], id="pods-on-a-foreign-cluster"),
        pytest.param(["up", "--simulated-pods"], id="simulated-pods-on-real-nodes"),
        pytest.param(["up", "--port", "1"], id="a-port-on-loopback-for-real-nodes"),
        pytest.param(["up", "--control-plane", "--nodes", "2"], id="nodes-without-containers"),
        pytest.param(["up", "--existing", "--yes"], id="packages-for-a-foreign-cluster"),
        pytest.param(["up", "--nodes", "0"], id="no-node-at-all"),
        pytest.param(["build", "emacs"], id="a-program-that-is-not-ours"),
        pytest.param(["images", "operator", "--architectures", "sparc"], id="a-machine-without-packages"),
        pytest.param(["load-image"], id="no-image"),
        pytest.param(["up", "--control-plane", "--name", "../up"], id="a-path-for-a-name"),
        pytest.param(["up", "--control-plane", "--name", ""], id="an-empty-name"),
        pytest.param(["up", "--control-plane", "--port", "many"], id="no-port"),
    ],
)
def test_given_wrong_usage_then_the_code_is_2(arguments: list[str], state: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert not state.exists()


@pytest.mark.parametrize("command", ["down", "kubeconfig", "logs", "status"])
def test_given_an_unknown_name_then_it_is_named(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--name", "nobody"]) == 1
    assert "there is no cluster named nobody" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(["up", "--yes"], id="up"),
        pytest.param(["load-image", "image.tar"], id="load-image"),
        pytest.param(["shell"], id="shell"),
    ],
)
def test_given_no_root_then_real_nodes_say_so_and_what_to_do(
    arguments: list[str], state: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert main(arguments) == 1
    assert "needs root: run it with sudo; or run firebolt-local up --control-plane" in capsys.readouterr().err
    assert not state.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="says first that it needs root")
def test_given_a_missing_file_or_cluster_then_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["load-image", str(tmp_path / "image.tar")]) == 1
    assert f"there is no {tmp_path / 'image.tar'}" in capsys.readouterr().err
    assert main(["shell", "--name", "nobody"]) == 1
    assert "there is no cluster with nodes named nobody" in capsys.readouterr().err


def test_given_no_cluster_then_status_is_well(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["status"]) == 0
    assert capsys.readouterr().out == "no cluster is up\n"


def test_given_a_folder_with_other_things_then_they_are_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    treasure = tmp_path / "documents" / "thesis.txt"
    treasure.parent.mkdir()
    treasure.write_text("precious")
    assert main(["up", "--control-plane", "--folder", str(treasure.parent)]) == 1
    assert "choose an empty folder" in capsys.readouterr().err
    assert main(["down", "--folder", str(treasure.parent)]) == 1
    assert treasure.read_text() == "precious"


def test_given_a_damaged_record_then_it_says_what_to_remove(state: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (state / "default").mkdir(parents=True)
    (state / "default" / "cluster.json").write_text("{half")
    assert main(["down"]) == 1
    assert f"remove {state / 'default'}" in capsys.readouterr().err


def test_given_no_kubeconfig_then_existing_says_so_and_can_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    for _ in range(2):
        assert main(["up", "--existing"]) == 1
        assert "set KUBECONFIG to one" in capsys.readouterr().err


def test_given_a_folder_that_may_not_be_written_then_it_says_so(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    # Root may write everywhere, but for this right of its own.
    without_rights = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []
    command = [sys.executable, "-m", "firebolt_local", "up", "--control-plane", "--folder", str(tmp_path / "cluster")]
    environment = python_environment()
    done = subprocess.run([*without_rights, *command], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "choose a folder that you may write to" in done.stderr


def test_given_a_full_disk_then_it_says_so_and_leaves_nothing(state: Path) -> None:
    """The record of the cluster itself cannot be written."""
    program = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))\n"
    program += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
    program += "from firebolt_local.main import main; sys.exit(main(['up', '--control-plane']))"
    environment = python_environment()
    done = subprocess.run(
        [sys.executable, "-B", "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith("firebolt-local: File too large")
    assert not state.exists()
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[0] == resource.RLIM_INFINITY


def test_given_neither_go_nor_an_index_then_up_says_both_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], state: Path
) -> None:
    (tmp_path / "bin").mkdir()
    settings = {
        "PATH": str(tmp_path / "bin"),
        "KUBEBUILDER_ASSETS": str(tmp_path / "bin"),
        "PIP_INDEX_URL": "http://127.0.0.1:1/simple",
        "PIP_RETRIES": "0",
        "PIP_CONFIG_FILE": "/dev/null",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert main(["up", "--control-plane"]) == 1
    assert "put a newer go on PATH or connect" in capsys.readouterr().err
    assert main(["down"]) == 0
    assert not state.exists()


def test_given_no_extra_then_it_says_what_to_install() -> None:
    program = "import sys; sys.modules['tomli_w'] = None\nfrom firebolt_local.__main__ import main; sys.exit(main())"
    done = subprocess.run(
        [sys.executable, "-c", program], env=python_environment(), capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "run pip install 'firebolt-operator[local]'" in done.stderr
