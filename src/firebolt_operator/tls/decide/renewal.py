"""Has the certificate that a generation serves been issued anew? Its pods read it when they start, so it rolls."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServingCertificate:
    """As an engine's status records it; empty and 0 without TLS."""

    fingerprint: str = ""
    generation: int = 0


def is_renewed(recorded: ServingCertificate, live: ServingCertificate) -> bool:
    """Each generation has a key of its own: compared across generations, an engine would roll for ever."""
    is_known = bool(recorded.fingerprint and live.fingerprint) and recorded.generation == live.generation
    return is_known and recorded.fingerprint != live.fingerprint
