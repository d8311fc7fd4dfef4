"""One run of the plugin: where kubectl points, whether commands are run or printed, and where words go."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

from kubectl_firebolt.kubectl.invocation import Invocation, Target, printed
from kubectl_firebolt.kubectl.run import Kubectl


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    target: Target
    is_printing: bool = False
    kubectl: Kubectl = field(default_factory=Kubectl)

    def print_commands(self, *invocations: Invocation) -> bool:
        """Whether that is all there is to do: what is printed is not run."""
        if self.is_printing:
            self.say(printed(invocations))
        return self.is_printing

    def say(self, *lines: str) -> None:
        _write(lines, is_data=True)

    def warn(self, text: str) -> None:
        _write((f"warning: {text}",), is_data=False)


def _write(lines: Sequence[str], *, is_data: bool) -> None:
    stream = sys.stdout if is_data else sys.stderr
    stream.writelines(f"{line}\n" for line in lines)
    # kubectl writes to the same place, and what was said first should stand first.
    stream.flush()
