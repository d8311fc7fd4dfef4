"""What stops a process that cannot look at its own clock?

A fence is asked before each write, but a process can be frozen between the question and the write, and thaw when
someone else leads. So the kernel holds a timer that ends the process, at the latest before it runs one instruction
more: a pending signal is delivered before a thawed process returns to its own code.
"""

import ctypes
import signal
import threading
import time
from typing import Final, Protocol

_SIGEV_THREAD_ID: Final = 4
# A handler gets the number of its signal, and `_exit` takes an exit code: with number 1 they are the code of a lost
# lease. A handler is needed at all because the kernel spares process 1 of a container the default action.
_SIGNAL: Final = signal.SIGHUP


class DeadMansSwitch(Protocol):
    def arm(self, seconds: float, /) -> None:
        """End the process after this time, unless armed again or disarmed before."""
        ...

    def disarm(self) -> None: ...


class _Event(ctypes.Structure):
    _fields_ = (
        ("value", ctypes.c_void_p),
        ("signal", ctypes.c_int),
        ("notify", ctypes.c_int),
        ("thread", ctypes.c_int),
        ("padding", ctypes.c_char * 44),
    )


class _Setting(ctypes.Structure):
    _fields_ = (
        ("interval_seconds", ctypes.c_long),
        ("interval_nanoseconds", ctypes.c_long),
        ("seconds", ctypes.c_long),
        ("nanoseconds", ctypes.c_long),
    )


class KernelSwitch:
    """Make it in the thread that writes (the one of the event loop): its next instruction must not come first."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        self._libc.signal.restype = ctypes.c_void_p
        self._libc.signal(_SIGNAL, ctypes.cast(self._libc._exit, ctypes.c_void_p))  # noqa: SLF001 - libc's, not ours
        self._timer = ctypes.c_void_p()
        event = _Event(signal=_SIGNAL, notify=_SIGEV_THREAD_ID, thread=threading.get_native_id())
        # This clock goes on while the machine is suspended, as the lease does.
        created = self._libc.timer_create(time.CLOCK_BOOTTIME, ctypes.byref(event), ctypes.byref(self._timer))
        self._check(created, "timer_create")

    def arm(self, seconds: float, /) -> None:
        whole, part = divmod(max(seconds, 1e-6), 1.0)  # a setting of zero would disarm
        self._set(_Setting(seconds=int(whole), nanoseconds=int(part * 1e9)))

    def disarm(self) -> None:
        self._set(_Setting())

    def _set(self, setting: _Setting) -> None:
        self._check(self._libc.timer_settime(self._timer, 0, ctypes.byref(setting), None), "timer_settime")

    def _check(self, answer: int, call: str) -> None:
        if answer != 0:
            raise OSError(ctypes.get_errno(), f"{call} failed")
