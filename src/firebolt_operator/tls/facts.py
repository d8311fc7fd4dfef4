"""What was seen of an instance's TLS at the start of a pass, as frozen facts. Public parts only."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import EngineTLSStatus, GatewayTLSStatus, TLSListener
from firebolt_operator.manifests.issued import NOTHING_ISSUED, Issued, IssuedSecret
from firebolt_operator.manifests.secret_mounts import SecretMount


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineListener:
    """An engine of the instance, by what its StatefulSets say."""

    name: str
    tls_hash: str  # of the generation that takes queries; empty: it speaks plaintext
    is_drained: bool = True  # no other generation takes queries any more
    has_pods: bool = True  # or may get some: who is parked can be spoken to by nobody


@dataclass(frozen=True, slots=True, kw_only=True)
class Listeners:
    """Every engine that names the instance."""

    engines: tuple[EngineListener, ...] = ()
    problem: str = ""  # why they could not be read


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTLSSituation:
    listener: TLSListener | None
    status: EngineTLSStatus | None
    now: datetime
    listeners: Listeners
    expected_hash: str  # of an engine that was made for the present settings
    anchor_name: str
    anchor: Issued = NOTHING_ISSUED
    spec_problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevisions:
    """What tells one content of a Secret from another, by its name; none of one that is not there or not usable."""

    known: Mapping[str, str] = field(default_factory=dict[str, str])
    before: Mapping[str, str] = field(default_factory=dict[str, str])  # what the gateway's pods were given last

    def of(self, mounts: tuple[SecretMount, ...]) -> tuple[str, ...]:
        """What cannot be used starts no rollout: new pods could not mount it, or not read it."""
        found = ((name, self.known.get(name) or self.before.get(name, "")) for name in (each.secret for each in mounts))
        return tuple(f"{name}={revision}" for name, revision in found if revision)


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayRollout:
    """The gateway's Deployment."""

    config_hash: str  # of its pod template
    is_complete: bool  # every pod is of that template and available, and none of another is left

    def serves(self, config_hash: str) -> bool:
        """The hash matters: it may be completely rolled out on an older configuration."""
        return self.is_complete and self.config_hash == config_hash


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayTLSSituation:
    listener: TLSListener | None
    status: GatewayTLSStatus | None
    now: datetime
    certificate_name: str
    rollout: GatewayRollout | None
    is_ready: bool = False  # GatewayTLSReady is True already
    certificate: Issued = NOTHING_ISSUED  # of cert-manager, or the user's Secret alone
    client_authority: IssuedSecret | None = None
    spec_problem: str = ""
    reissue_problem: str = ""  # why the certificate could not be asked for or read


@dataclass(frozen=True, slots=True)
class TrustedAuthority:
    """A CA that the gateway trusts, and the generations that it was seen in. One of them may still serve it."""

    text: str
    generations: frozenset[str]


@dataclass(frozen=True, slots=True)
class TrustBundle:
    """All CAs that the gateway trusts, by fingerprint. Each other set of them has another revision.

    Gateway pods are rolled by the revision, never by the set: a set that left and came back is not what they loaded.
    """

    authorities: Mapping[str, TrustedAuthority] = field(default_factory=dict[str, TrustedAuthority])
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustSituation:
    """`seen` has the text of each live generation's CA by the name of its Secret, empty where it could not be read."""

    seen: Mapping[str, str]
    anchor: str  # the text of the anchor's CA
    bundle: TrustBundle = field(default_factory=TrustBundle)
    published: frozenset[str] = frozenset()  # status.rolledEngineTrustCAs


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySeen:
    """What an instance's own objects say: its gateway's Deployment, and the Secret with the CAs."""

    rollout: GatewayRollout | None = None  # None: there is none
    revisions: Mapping[str, str] = field(default_factory=dict[str, str])  # that its pods were given last
    bundle: TrustBundle = field(default_factory=TrustBundle)


@dataclass(frozen=True, slots=True)
class EnsureProblem:
    """Why a certificate could not be asked for."""

    text: str
    is_passing: bool  # the server will answer again


@dataclass(frozen=True, slots=True, kw_only=True)
class TLSSituation:
    """Everything that decisions about an instance's TLS depend on."""

    instance: FireboltInstance
    now: datetime
    gateway: GatewaySeen
    listeners: Listeners = field(default_factory=Listeners)
    generations: Mapping[str, str] = field(default_factory=dict[str, str])  # see TrustSituation
    expected_hash: str = ""  # of an engine that was made for the present settings
    issued: Mapping[str, Issued] = field(default_factory=dict[str, Issued])  # by name, whatever the listeners refer to
    has_cert_manager: bool = True
    spec_problem: str = ""
    engine_problem: EnsureProblem | None = None
    gateway_problem: EnsureProblem | None = None

    def of(self, name: str) -> Issued:
        return self.issued.get(name, NOTHING_ISSUED)
