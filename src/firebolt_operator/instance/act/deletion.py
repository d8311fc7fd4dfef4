"""What happens to an instance's objects when it is deleted: all that it owns goes, its database included."""

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.errors import FencedError, OperatorError, TransientError
from firebolt_operator.instance.decide.ownership import SWEPT, is_own, label_selector
from firebolt_operator.instance.views import decode_metadata
from firebolt_operator.kube.ports import Reader, Scope, Writer
from firebolt_operator.refs import Ref, Resource


async def delete_children(instance: FireboltInstance, reader: Reader, writer: Writer) -> None:
    """Every kind is tried, whatever happened to the one before; nobody waits until the objects are gone."""
    errors = list[OperatorError]()
    for resource in SWEPT:
        try:
            for found in await _owned(instance, resource, reader):
                await _delete(resource, found, writer)
        except FencedError:
            raise
        except OperatorError as err:
            errors.append(err)
    if errors:
        raise TransientError(f"cleanup failed with {len(errors)} errors, first: {errors[0]}") from errors[0]


async def _owned(instance: FireboltInstance, resource: Resource, reader: Reader) -> list[ObjectMeta]:
    """Live, because a finalizer that is released cannot be taken back."""
    scope = Scope(resource=resource, namespace=instance.metadata.namespace, labels=label_selector(instance))
    found = [decode_metadata(item) async for page in reader.pages(scope) for item in page.items]
    return [each for each in found if is_own(instance, resource, each)]


async def _delete(resource: Resource, found: ObjectMeta, writer: Writer) -> None:
    if not found.is_deleting:
        await writer.delete(Ref(resource, found.namespace, found.name), uid=found.uid)
