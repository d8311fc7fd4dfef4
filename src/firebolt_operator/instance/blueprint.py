"""How the objects of one instance look, for decisions that must not care how they are rendered."""

from dataclasses import dataclass
from typing import Protocol

from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.facts import SecretRevisions, TrustBundle


@dataclass(frozen=True, slots=True)
class Piece:
    what: str  # as messages name it: "postgres statefulset"
    manifest: Manifest


Pieces = tuple[Piece, ...]


class Blueprint(Protocol):
    """Each method gives objects in the order in which they are made."""

    def problem(self) -> str | None:
        """Why something cannot be written down; None if all can."""
        ...

    def credentials(self, password: str, /) -> Manifest:
        """To be created, never applied."""
        ...

    def guard(self) -> Pieces: ...
    def postgres(self) -> Pieces: ...
    def metadata_service(self, login_digest: str = "", /) -> Pieces:
        """The digest changes with what the service reads from Secrets of others, and so restarts it."""
        ...

    def trust(self, bundle: TrustBundle, /) -> Pieces:
        """The CAs that the gateway verifies engines with; before the gateway, which mounts them."""
        ...

    def gateway(self, revisions: SecretRevisions | None = None, /) -> Pieces:
        """By what the instance's status has recorded. Revisions change with what its pods read from Secrets."""
        ...

    def gateway_hash(self, status: GatewayTLSStatus | None, revisions: SecretRevisions, /) -> str:
        """Of what its pods would be given if that were recorded."""
        ...
