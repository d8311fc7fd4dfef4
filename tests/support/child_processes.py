"""How does a test run a Python of its own, which imports what the test imports?"""

import os
import signal
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager


def python_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@contextmanager
def python_process(script: str) -> Generator[subprocess.Popen[bytes]]:
    """Is there once the script has said `ready`, and is ended with the test."""
    command, pipe = [sys.executable, "-c", script], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=python_environment()) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            yield process
        finally:
            process.kill()


@contextmanager
def hears_interrupts() -> Generator[None]:
    """Tests that a shell runs in its background ignore Ctrl+C, and so would whatever they start."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
