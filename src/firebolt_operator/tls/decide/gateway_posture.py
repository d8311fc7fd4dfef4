"""What does the gateway ask of its clients, and may it change that now? The words of `GatewayTLSReady`.

Whoever tightens wants nobody to get in who would be refused by the new rules. So the listener is closed first, until no
pod of the old kind is left, and opened again with the new ones. Whoever loosens loses nobody, and is served at once.
"""

from dataclasses import dataclass
from typing import Final, Protocol

from firebolt_operator.api import names
from firebolt_operator.api.names import InstanceReason, TLSMode
from firebolt_operator.api.tls import GatewayTLSStatus, TLSListener
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.issued import wrong_secret
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.tls.facts import GatewayTLSSituation

LEVELS: Final = {TLSMode.PLAINTEXT: 0, TLSMode.ONE_WAY: 1, TLSMode.MUTUAL: 2}
NEEDED: Final = (names.KEY_CERTIFICATE, names.KEY_PRIVATE_KEY)
DISABLED: Final = Verdict("True", InstanceReason.DISABLED, "spec.tls.gateway is unset or disabled")
READY: Final = Verdict("True", InstanceReason.READY, "gateway TLS certificate is provisioned and serving")
STAGING: Final = Verdict(
    "False",
    InstanceReason.STAGING_FAIL_CLOSED,
    "tightening gateway TLS posture: serving fail-closed until the previous listener's pods are fully replaced",
)
ROLLING: Final = Verdict(
    "False",
    InstanceReason.SECURE_ROLLOUT_PENDING,
    "gateway TLS certificate provisioned; waiting for the secure listener to finish rolling out",
)
CERTIFICATE_PENDING: Final = Verdict(
    "False", InstanceReason.CERTIFICATE_PENDING, "waiting for cert-manager to issue the gateway TLS certificate"
)
SECRET_PENDING: Final = Verdict(
    "False",
    InstanceReason.SECRET_PENDING,
    "waiting for the referenced gateway TLS secret to exist and carry tls.crt and tls.key",
)


class GatewayConfigs(Protocol):
    def config_hash(self, status: GatewayTLSStatus | None, /) -> str:
        """Of what the gateway's pods would be given with this status."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayTLSPlan:
    """The gateway is changed only in a pass that leaves the status as it is: what it serves has been recorded before.

    Otherwise a process that dies in between leaves pods that are looser than anybody knows.
    """

    status: GatewayTLSStatus | None
    verdict: Verdict
    ensures_certificate: bool = False  # by cert-manager; first of all, so that it goes on while the listener is closed


def decide_gateway_tls(situation: GatewayTLSSituation, configs: GatewayConfigs) -> GatewayTLSPlan:
    listener = situation.listener
    if listener is None:
        return GatewayTLSPlan(status=None, verdict=DISABLED)
    if situation.spec_problem:
        verdict = Verdict("False", InstanceReason.TLS_SPEC_INVALID, situation.spec_problem)
        return GatewayTLSPlan(status=situation.status, verdict=verdict)
    if not listener.enabled:
        return GatewayTLSPlan(status=None, verdict=DISABLED)
    return _Enabled(situation, listener, configs).decide()


@dataclass(frozen=True, slots=True)
class _Enabled:
    situation: GatewayTLSSituation
    listener: TLSListener
    configs: GatewayConfigs

    def decide(self) -> GatewayTLSPlan:
        if self.is_mutual and not self.authority:
            # The old listener would let in whom the new rules refuse.
            return self._plan(None, self._pending("the client CA is missing"))
        if self.is_tightening and not self._is_served(None):
            return self._plan(None, STAGING)
        before = None if self.is_tightening else self.situation.status
        problem = self._certificate_problem()
        if problem is not None:
            # A certificate that serves goes on serving.
            return self._plan(before, problem)
        secure = self._secure()
        if not self.situation.is_ready and not self._is_served(secure):
            return self._plan(secure, ROLLING)
        return self._plan(secure, READY)

    @property
    def is_mutual(self) -> bool:
        return self.listener.client_ca_secret_ref is not None

    @property
    def desired(self) -> TLSMode:
        return TLSMode.MUTUAL if self.is_mutual else TLSMode.ONE_WAY

    @property
    def authority(self) -> str:
        """The fingerprint of the CA that clients must come from; any edit of its text counts."""
        secret = self.situation.client_authority
        is_there = self.is_mutual and secret is not None and secret.authority.strip()
        return blob_fingerprint(secret.authority) if secret is not None and is_there else ""

    @property
    def is_tightening(self) -> bool:
        served = served_mode(self.situation.status)
        if LEVELS[self.desired] > LEVELS[served]:
            return True
        known = self.situation.status.client_ca_fingerprint if self.situation.status else ""
        return self.desired is served is TLSMode.MUTUAL and bool(known) and known != self.authority

    def _is_served(self, status: GatewayTLSStatus | None) -> bool:
        rollout = self.situation.rollout
        return rollout is not None and rollout.serves(self.configs.config_hash(status))

    def _certificate_problem(self) -> Verdict | None:
        issued, is_ours = self.situation.certificate, self.listener.cert_manager is not None
        if self.situation.reissue_problem:
            return _failed(self.situation.reissue_problem)
        if is_ours and (issued.certificate is None or not issued.certificate.is_ready):
            return CERTIFICATE_PENDING
        if issued.secret is None or not issued.secret.has(*NEEDED):
            return self._pending()
        if not issued.secret.public_key:
            return self._pending("tls.crt holds no certificate that can be read")
        wrong = wrong_secret(issued.secret, self.situation.certificate_name) if is_ours else ""
        return _failed(wrong) if wrong else None

    def _secure(self) -> GatewayTLSStatus:
        own = self.listener.secret_ref
        before = self.situation.status
        return GatewayTLSStatus(
            secret_name=own.name if own is not None else self.situation.certificate_name,
            created_at=before.created_at if before is not None else self.situation.now,
            mode=self.desired,
            client_ca_fingerprint=self.authority,
        )

    def _pending(self, detail: str = "") -> Verdict:
        verdict = CERTIFICATE_PENDING if self.listener.cert_manager is not None else SECRET_PENDING
        return Verdict("False", verdict.reason, f"{verdict.message}; {detail}") if detail else verdict

    def _plan(self, status: GatewayTLSStatus | None, verdict: Verdict) -> GatewayTLSPlan:
        return GatewayTLSPlan(
            status=status, verdict=verdict, ensures_certificate=self.listener.cert_manager is not None
        )


def served_mode(status: GatewayTLSStatus | None) -> TLSMode:
    if status is None:
        return TLSMode.PLAINTEXT
    return TLSMode(status.mode or TLSMode.ONE_WAY)


def _failed(problem: str) -> Verdict:
    return Verdict("False", InstanceReason.CERTIFICATE_ENSURE_FAILED, problem)
