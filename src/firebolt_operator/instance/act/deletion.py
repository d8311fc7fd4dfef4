"""What happens to an instance's objects when it is deleted: all that it owns goes, but for a database to be kept."""

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import PERSISTENT_VOLUME_CLAIMS
from firebolt_operator.errors import FencedError, NotFoundError, OperatorError, TransientError
from firebolt_operator.instance.decide.ownership import SWEPT, is_own, label_selector
from firebolt_operator.instance.decide.retention import credentials_change, is_left_of
from firebolt_operator.instance.inventory import internal_credentials_ref
from firebolt_operator.instance.views import decode_metadata
from firebolt_operator.kube.ports import Reader, Scope, Writer
from firebolt_operator.refs import Ref, Resource


async def release_database(instance: FireboltInstance, reader: Reader, writer: Writer) -> None:
    """Takes the owner off the credentials of a database that is kept, should no pass have had the time."""
    if not instance.spec.metadata.postgres_storage.is_kept:
        return
    ref = internal_credentials_ref(instance)
    body = await reader.get_raw(ref)
    patch = None if body is None else credentials_change(instance, decode_metadata(body))
    if patch is not None:
        await writer.merge_patch(ref, patch)


async def delete_children(instance: FireboltInstance, reader: Reader, writer: Writer) -> None:
    """Every kind is tried, whatever happened to the one before; nobody waits until the objects are gone."""
    errors = list[OperatorError]()
    for resource in SWEPT:
        try:
            for found in await _owned(instance, resource, reader):
                await _delete(resource, found, writer)
        except FencedError:
            raise
        except NotFoundError:
            continue  # a kind that the cluster does not serve: there is nothing of it
        except OperatorError as err:
            errors.append(err)
    if errors:
        raise TransientError(f"cleanup failed with {len(errors)} errors, first: {errors[0]}") from errors[0]


async def _owned(instance: FireboltInstance, resource: Resource, reader: Reader) -> list[ObjectMeta]:
    """Live, because a finalizer that is released cannot be taken back."""
    scope = Scope(resource=resource, namespace=instance.metadata.namespace, labels=label_selector(instance))
    found = [decode_metadata(item) async for page in reader.pages(scope) for item in page.items]
    return [each for each in found if is_own(instance, resource, each) and not _is_kept(instance, resource, each)]


def _is_kept(instance: FireboltInstance, resource: Resource, found: ObjectMeta) -> bool:
    is_database = resource == PERSISTENT_VOLUME_CLAIMS or is_left_of(instance, found)
    return is_database and instance.spec.metadata.postgres_storage.is_kept


async def _delete(resource: Resource, found: ObjectMeta, writer: Writer) -> None:
    if not found.is_deleting:
        await writer.delete(Ref(resource, found.namespace, found.name), uid=found.uid)
