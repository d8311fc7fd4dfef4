"""How is kubectl run, and what is told when it does not do what it was asked for?"""

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kubectl_firebolt.errors import KubectlError, PluginError
from kubectl_firebolt.kubectl.invocation import Invocation
from kubectl_firebolt.manifest import Manifest

MISSING: Final = "kubectl is not on PATH; kubectl firebolt does all its work with it: install kubectl first"


@dataclass(frozen=True, slots=True)
class Kubectl:
    """An interruption ends the kubectl that runs."""

    program: str = "kubectl"

    def command(self, invocation: Invocation) -> list[str]:
        return [self.program, *invocation.arguments]

    def stream(self, invocation: Invocation, hint: str = "") -> None:
        """What kubectl says goes where ours goes."""
        done = self._run(invocation, capture=False)
        if done.returncode:
            raise KubectlError(f"{invocation.words}: exit status {done.returncode}", hint)

    def capture(self, invocation: Invocation) -> str:
        done = self._run(invocation, capture=True)
        if done.returncode:
            raise KubectlError(f"{invocation.words} failed: exit status {done.returncode}", done.stderr.strip())
        return done.stdout

    def object(self, invocation: Invocation) -> Manifest | None:
        """None for nothing, which is what `--ignore-not-found` prints."""
        text = self.capture(invocation)
        found: Manifest | None = json.loads(text) if text.strip() else None
        return found

    def items(self, invocation: Invocation) -> list[Manifest]:
        found = self.object(invocation) or {}
        return list(found.get("items") or [])

    def first_words(self, invocations: Sequence[Invocation]) -> list[str]:
        """For completion: nothing at all, where anything goes wrong."""
        try:
            return [line for each in invocations for line in self.capture(each).splitlines()]
        except PluginError:
            return []

    def _run(self, invocation: Invocation, *, capture: bool) -> subprocess.CompletedProcess[str]:
        pipe = subprocess.PIPE if capture else None
        try:
            return subprocess.run(  # noqa: S603 - kubectl, with arguments that no shell reads
                self.command(invocation), input=invocation.stdin, stdout=pipe, stderr=pipe, text=True, check=False
            )
        except FileNotFoundError as err:
            raise PluginError(MISSING) from err
