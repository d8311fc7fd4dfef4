"""Writes an instance's status: once per pass, only when there is news, and never over somebody else's."""

from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.api.serialise import encode_status, parse_instance
from firebolt_operator.errors import ConflictError, TransientError
from firebolt_operator.instance.inventory import instance_ref
from firebolt_operator.kube.ports import Reader, Writer
from firebolt_operator.refs import Manifest


async def write_status(
    instance: FireboltInstance, status: InstanceStatus, *, reader: Reader, writer: Writer
) -> FireboltInstance:
    """The instance as it is stored afterwards.

    After a conflict one more try is sound only while the stored status is still the one that this pass started from:
    then somebody edited the spec, and our status says nothing that the edit made wrong.
    """
    if status == instance.status:
        return instance
    try:
        return await _put(instance, status, writer)
    except ConflictError:
        fresh = await _read_again(instance, reader)
        if fresh.status != instance.status:
            raise
        return await _put(fresh, status, writer)


async def _put(instance: FireboltInstance, status: InstanceStatus, writer: Writer) -> FireboltInstance:
    return parse_instance(await writer.update_status(_manifest(instance, status)))


def _manifest(instance: FireboltInstance, status: InstanceStatus) -> Manifest:
    metadata = instance.metadata
    return {
        "apiVersion": FIREBOLT_INSTANCES.api_version,
        "kind": FIREBOLT_INSTANCES.kind,
        "metadata": {
            "name": metadata.name,
            "namespace": metadata.namespace,
            "uid": metadata.uid,
            "resourceVersion": metadata.resource_version,
        },
        "status": encode_status(status),
    }


async def _read_again(instance: FireboltInstance, reader: Reader) -> FireboltInstance:
    ref = instance_ref(instance)
    found = await reader.get(ref)
    if found is None or found["metadata"]["uid"] != instance.metadata.uid:
        raise TransientError(f"{ref} was replaced during its pass")
    return parse_instance(found)
