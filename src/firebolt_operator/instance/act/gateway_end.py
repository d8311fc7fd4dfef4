"""How do the gateway's pods end with their instance? They get a minute at most, however long their own grace is.

Owner references alone would let them wait for as long as `drainTimeout` says, which may be a day.
"""

import math
from datetime import datetime, timedelta
from typing import Final

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.gateway_times import DELETED_INSTANCE_GRACE
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.api.resources import PODS
from firebolt_operator.instance.decide.ownership import is_own, label_selector
from firebolt_operator.instance.inventory import gateway_deployment_ref
from firebolt_operator.instance.views import decode_metadata
from firebolt_operator.kube.ports import Reader, Scope, Writer
from firebolt_operator.refs import Ref

PATIENCE: Final = DELETED_INSTANCE_GRACE + timedelta(seconds=5)
"""Beyond it nobody waits: the node of such a pod may be gone for good."""

DEFAULT_GRACE_SECONDS: Final = 30  # Kubernetes' own
HASH_LABEL: Final = "pod-template-hash"


class PodMeta(ObjectMeta, frozen=True, kw_only=True):
    deletion_grace_period_seconds: int | None = None


class PodSpec(Model, frozen=True, kw_only=True):
    termination_grace_period_seconds: int | None = None


class GatewayPod(Model, frozen=True, kw_only=True):
    metadata: PodMeta
    spec: PodSpec = PodSpec()


_PODS: Final = msgspec.json.Decoder(GatewayPod)


async def end_gateway(instance: FireboltInstance, reader: Reader, writer: Writer) -> int:
    """How many pods are left. Deployment first: it would replace its pods; its last ReplicaSet may for a moment."""
    ref = gateway_deployment_ref(instance)
    body = await reader.get_raw(ref)
    deployment = None if body is None else decode_metadata(body)
    if deployment is not None and not is_own(instance, ref.resource, deployment):
        # Somebody else's, and so are its pods, whatever labels they carry.
        return 0
    if deployment is not None and not deployment.is_deleting:
        await writer.delete(ref, uid=deployment.uid)
    pods = await _pods(instance, reader)
    for pod in pods:
        grace = decide_grace(pod, instance.metadata.deletion_timestamp)
        if grace is not None:
            metadata = pod.metadata
            await writer.delete(Ref(PODS, metadata.namespace, metadata.name), uid=metadata.uid, grace_seconds=grace)
    return len(pods)


def is_waited_for(instance: FireboltInstance, now: datetime) -> bool:
    deleted_at = instance.metadata.deletion_timestamp
    return deleted_at is not None and now < deleted_at + PATIENCE


def decide_grace(pod: GatewayPod, instance_deleted_at: datetime | None) -> int | None:
    """Seconds to delete a pod with; None if it ends soon enough by itself.

    A pod that is being deleted counts its grace from then on, and a shorter one too: what it is given runs until a
    minute after its instance was deleted, so that no query that still runs is cut at once.
    """
    metadata = pod.metadata
    if metadata.deletion_timestamp is None:
        own = pod.spec.termination_grace_period_seconds
        return min(DEFAULT_GRACE_SECONDS if own is None else own, _whole(DELETED_INSTANCE_GRACE))
    grace = metadata.deletion_grace_period_seconds or 0
    began_at = metadata.deletion_timestamp - timedelta(seconds=grace)
    wanted = _whole(max((instance_deleted_at or began_at) + DELETED_INSTANCE_GRACE - began_at, timedelta(seconds=1)))
    return wanted if wanted < grace else None


def is_gateway_pod(instance: FireboltInstance, found: ObjectMeta) -> bool:
    """Made by a ReplicaSet of the gateway's Deployment, whose name and hash make up its own."""
    owner = found.controller
    expected = f"{names.gateway_name(instance.metadata.name)}-{found.labels.get(HASH_LABEL)}"
    return owner is not None and (owner.kind, owner.name) == ("ReplicaSet", expected)


async def _pods(instance: FireboltInstance, reader: Reader) -> list[GatewayPod]:
    """Live, because a finalizer that is released cannot be taken back."""
    labels = f"{label_selector(instance)},{names.LABEL_COMPONENT}={names.COMPONENT_GATEWAY}"
    scope = Scope(resource=PODS, namespace=instance.metadata.namespace, labels=labels)
    found = [_PODS.decode(item) async for page in reader.pages(scope) for item in page.items]
    return [pod for pod in found if is_gateway_pod(instance, pod.metadata)]


def _whole(duration: timedelta) -> int:
    return math.ceil(duration.total_seconds())
