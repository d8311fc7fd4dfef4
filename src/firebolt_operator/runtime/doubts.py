"""Which of our writes may still happen, though we have stopped waiting for them? Those that were never answered."""

from dataclasses import dataclass
from typing import Final

from firebolt_operator.kube.ports import RequestRecorder
from firebolt_operator.runtime.fence import LeaseFence

MUTATING: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
# The lease is no work of a leader's, and reviews store nothing.
HARMLESS: Final = frozenset({"leases", "tokenreviews", "subjectaccessreviews"})


@dataclass(frozen=True, slots=True)
class Doubts:
    """A RequestRecorder that tells the fence, and passes everything on. It hears of cancelled requests as well."""

    fence: LeaseFence
    recorder: RequestRecorder

    def request(self, method: str, code: str, seconds: float, resource: str, verb: str, /) -> None:
        # A server that answers with 5xx does not say what has become of the write.
        if method in MUTATING and resource not in HARMLESS and (code == "error" or code.startswith("5")):
            self.fence.doubt()
        self.recorder.request(method, code, seconds, resource, verb)
