"""What a pass has to tell about an engine, put into its status."""

from dataclasses import dataclass
from datetime import datetime

from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.engine import EngineStatus, FireboltEngine
from firebolt_operator.api.kstatus import Stalled
from firebolt_operator.api.names import EngineReason
from firebolt_operator.engine.decide.conditions import counted, instance_ready, with_verdict
from firebolt_operator.engine.decide.gates import GATED_PHASES
from firebolt_operator.engine.decide.progress import Findings, with_findings
from firebolt_operator.engine.facts import EngineFacts
from firebolt_operator.reconciling.verdicts import Verdict


@dataclass(frozen=True, slots=True)
class Report:
    """Speaks of the engine as the pass found it."""

    engine: FireboltEngine
    now: datetime

    @property
    def status(self) -> EngineStatus:
        """The engine's own, which knows that the instance is ready wherever a pass got past it."""
        status = self.engine.status
        if status.phase not in GATED_PHASES:
            return status
        return self.with_condition(status, names.CONDITION_INSTANCE_READY, instance_ready())

    def counted(self, status: EngineStatus, facts: EngineFacts) -> EngineStatus:
        return counted(status, facts, self.engine.metadata.name)

    def with_condition(self, status: EngineStatus, kind: str, verdict: Verdict) -> EngineStatus:
        return with_verdict(status, kind, verdict, spec_generation=self.engine.metadata.generation, now=self.now)

    def concluded(self, status: EngineStatus, found: Findings) -> EngineStatus:
        return with_findings(status, found, spec_generation=self.engine.metadata.generation, now=self.now)

    def stalled(self, problem: str) -> EngineStatus:
        """Whatever serves goes on serving, and `Ready` goes on telling of it."""
        found = find_condition(self.engine.status.conditions, names.CONDITION_READY)
        message = f"{problem}; nothing of this engine is changed until somebody edits it or deletes it"
        if found is None:
            ready = Verdict(status="False", reason=EngineReason.UNREADABLE, message=message)
        else:
            ready = Verdict(status=found.status, reason=found.reason, message=found.message)
        findings = Findings(ready=ready, to_mend=Stalled(EngineReason.UNREADABLE, message))
        return self.concluded(self.engine.status, findings)
