"""One connection, several hands: who writes is told by the name of the field manager."""

from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.writing import WriteRules


def written_by(client: KubeClient, field_manager: str) -> KubeClient:
    """The same client, writing under another name."""
    return KubeClient(client._transport, client._kinds, WriteRules(field_manager=field_manager), client._rng)
