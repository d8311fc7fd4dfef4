"""helm as people use it, on the program that we build."""

import subprocess
from collections.abc import Mapping
from typing import Any

import yaml

from firebolt_local.programs import provision
from firebolt_local.testing.installer import CHART, RELEASE
from firebolt_operator.refs import Manifest

__all__ = [
    "CHART",
    "CRDS_CHART",
    "RELEASE",
    "arguments",
    "helm",
    "names",
    "only",
    "refusal",
    "rendered",
    "rendered_text",
]

SECONDS = 120
CRDS_CHART = CHART.resolve().with_name("firebolt-operator-crds")


def helm(*words: str, values: Mapping[str, Any] | None = None) -> "subprocess.CompletedProcess[str]":
    program = provision.provide(["helm"])["helm"]
    command = [str(program), *words, *(["--values", "-"] if values is not None else [])]
    given = None if values is None else yaml.safe_dump(dict(values))
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=SECONDS, check=False)


def rendered_text(values: Mapping[str, Any], *, release: str = RELEASE, namespace: str = "system") -> str:
    done = helm("template", release, str(CHART), "--namespace", namespace, values=values)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rendered(values: Mapping[str, Any], **where: str) -> list[Manifest]:
    return [manifest for manifest in yaml.load_all(rendered_text(values, **where), yaml.CSafeLoader) if manifest]


def refusal(values: Mapping[str, Any]) -> str:
    done = helm("template", RELEASE, str(CHART), values=values)
    assert done.returncode != 0, "helm accepted it"
    return done.stderr


def names(manifests: list[Manifest]) -> list[str]:
    """Kind, namespace where there is one, and name of each object."""
    found = ((each["kind"], each["metadata"].get("namespace"), each["metadata"]["name"]) for each in manifests)
    return sorted(" ".join(word for word in words if word) for words in found)


def only(manifests: list[Manifest], kind: str) -> Manifest:
    (found,) = (each for each in manifests if each["kind"] == kind)
    return found


def arguments(manifests: list[Manifest]) -> list[str]:
    pod: Manifest = only(manifests, "Deployment")["spec"]["template"]["spec"]
    words: list[str] = pod["containers"][0]["args"]
    return words
