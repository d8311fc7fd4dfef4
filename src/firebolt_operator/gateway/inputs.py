"""Everything that rendering one gateway depends on. Engines are not among it: they come and go without a rollout."""

from dataclasses import dataclass, field

from firebolt_operator.api.gateway_times import GatewayTimes, gateway_times
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.manifests.components import user_pod_spec
from firebolt_operator.manifests.reading import text
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayTLS:
    """Where TLS plugs in; rendering follows without knowing certificates."""

    downstream: Manifest | None = None  # transport socket of the client listener
    upstream: Manifest | None = None  # transport socket towards engines
    mounts: tuple[SecretMount, ...] = ()
    revisions: tuple[str, ...] = ()  # `name=revision` of what is mounted; a change rolls the pods
    is_closed: bool = False  # nothing listens for clients, until no pod is left that would let in too many


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayInputs:
    instance: FireboltInstance
    image: str  # of Envoy, with tag
    wake_agent_image: str = ""  # empty: no agent, and no hold in Envoy
    wake_agent_pull_policy: str = ""  # empty: left to Kubernetes
    tls: GatewayTLS = field(default_factory=GatewayTLS)

    @property
    def namespace(self) -> str:
        return self.instance.metadata.namespace

    @property
    def wakes_engines(self) -> bool:
        """Hold, cluster and sidecar share this predicate: a hold without an agent would call a dead port."""
        return bool(self.wake_agent_image)

    @property
    def times(self) -> GatewayTimes:
        return gateway_times(self.instance.spec.gateway)

    @property
    def template(self) -> Manifest | None:
        return self.instance.spec.gateway.template

    @property
    def custom_service_account(self) -> str:
        """Empty unless the user took over the gateway's identity, and its grants with it."""
        return text(user_pod_spec(self.template).get("serviceAccountName"))
