"""Which environment lets a Python of a test's own import what the test imports?"""

import os
import sys


def python_environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
