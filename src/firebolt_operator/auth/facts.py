"""What was seen of an instance's authentication at the start of a pass, as frozen facts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from firebolt_operator.api.auth import AuthSpec, AuthStatus
from firebolt_operator.auth.held_keys import HeldKey
from firebolt_operator.manifests.issued import NOTHING_ISSUED, Issued, IssuedSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationKeys:
    """One generation of an engine."""

    keys: tuple[HeldKey, ...]  # as it was made with, the one that signs first; empty: it asks nobody for a token
    may_run: bool  # it has pods, or its StatefulSet asks for some


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineKeys:
    """An engine of the instance, by what its objects say."""

    name: str
    generations: tuple[GenerationKeys, ...] = ()
    is_unborn: bool = False  # its first generation is about to be made, and there is nothing to look at yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Every engine that names the instance; an engine is found by that, never by a label."""

    engines: tuple[EngineKeys, ...] = ()
    is_live: bool = False  # read from the API server after the instance's present status was stored
    problem: str = ""  # why it could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSecrets:
    """What an engine is made with, as the Secrets hold it now."""

    admin: IssuedSecret | None
    admin_problem: str  # why the administrator's password cannot be had
    issued: Mapping[str, Issued]  # of the keys that engines are told of, by name; without Certificates


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSituation:
    """Everything that decisions about authentication depend on."""

    instance: str
    spec: AuthSpec | None
    status: AuthStatus | None
    now: datetime  # taken after all the rest was read
    fleet: Fleet
    spec_problem: str = ""  # why nothing can be made of the spec
    admin_problem: str = ""  # why the administrator's password cannot be had
    has_cert_manager: bool = True
    issued: Mapping[str, Issued] = field(default_factory=dict[str, Issued])  # by the name of a signing key

    def of(self, name: str) -> Issued:
        return self.issued.get(name, NOTHING_ISSUED)
