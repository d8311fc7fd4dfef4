"""Which fields does a pod template have? As the API server of the Kubernetes version we build against knows them."""

from functools import cache
from importlib import resources
from typing import Final

import msgspec

import firebolt_operator.api
from firebolt_operator.refs import Manifest

FILE_NAME: Final = "pod_template.json"  # written by scripts/pod_template_schema.py


@cache
def pod_template_schema() -> Manifest:
    """The structural schema of an embedded pod template. Shared by all callers: read it, do not change it."""
    text = resources.files(firebolt_operator.api).joinpath(FILE_NAME).read_bytes()
    return msgspec.json.decode(text, type=Manifest)
