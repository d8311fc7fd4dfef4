"""Is nothing left of a start that was cut short, wherever the interruption fell?"""

from pathlib import Path

import pytest

from firebolt_local.cluster import processes
from firebolt_local.cluster.control_plane import ControlPlane, Options
from firebolt_local.cluster.processes import Launch, ProcessRecord
from firebolt_local.progress import wait_until


def test_given_an_interruption_before_a_program_is_noted_then_it_ends_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A signal can come while the program is started: it runs and has written its record, and nobody knows its pid."""
    etcd = tmp_path / "etcd"
    etcd.write_text("#!/bin/sh\nexec sleep 600\n")
    etcd.chmod(0o755)
    start, started = processes.start, list[ProcessRecord]()

    def interrupted(launch: Launch) -> ProcessRecord:
        started.append(start(launch))
        wait_until(launch.record.exists, "its record")
        raise KeyboardInterrupt

    monkeypatch.setattr(processes, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        ControlPlane(Options(folder=tmp_path / "cluster"), {"etcd": etcd}).start()
    try:
        assert [record.is_alive() for record in started] == [False]
    finally:
        processes.kill(started)
