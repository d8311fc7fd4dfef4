"""Do tests share the machine, but for those that want it for themselves?"""

import fcntl
import threading
import time
from pathlib import Path

from tests.support.alone import turn


class Visitor:
    """Somebody in the room, or on the way into it."""

    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        self.is_inside, self.may_leave = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._visit, args=(folder, is_alone))
        self._thread.start()

    def leave(self) -> None:
        self.may_leave.set()
        self._thread.join()

    def _visit(self, folder: Path, is_alone: bool) -> None:
        with turn(folder, is_alone=is_alone):
            self.is_inside.set()
            self.may_leave.wait()


def until_gate_is_shut(folder: Path) -> None:
    with (folder / "gate").open("w") as gate:
        while True:
            try:
                fcntl.flock(gate, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(gate, fcntl.LOCK_UN)
            time.sleep(0.001)


def test_those_who_share_are_there_together(tmp_path: Path) -> None:
    visitors = [Visitor(tmp_path, is_alone=False) for _ in range(2)]
    for visitor in visitors:
        visitor.is_inside.wait()
    for visitor in visitors:
        visitor.leave()


def test_whoever_is_alone_waits_for_those_inside_and_keeps_the_others_out(tmp_path: Path) -> None:
    first = Visitor(tmp_path, is_alone=False)
    first.is_inside.wait()
    loner = Visitor(tmp_path, is_alone=True)
    until_gate_is_shut(tmp_path)
    assert not loner.is_inside.is_set()
    late = Visitor(tmp_path, is_alone=False)
    first.leave()
    loner.is_inside.wait()
    assert not late.is_inside.wait(0.1)
    loner.leave()
    late.is_inside.wait()
    late.leave()
