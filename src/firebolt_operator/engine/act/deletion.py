"""What happens to an engine's objects when the engine is deleted: all that it owns goes, nothing else does."""

from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.names import EngineReason, EventReason
from firebolt_operator.api.resources import CERTIFICATES, CONFIG_MAPS, SECRETS, SERVICES, STATEFULSETS
from firebolt_operator.engine.listener_views import decode_listener_secret
from firebolt_operator.engine.views import Child, decode_child
from firebolt_operator.errors import FencedError, NotFoundError, OperatorError, TransientError
from firebolt_operator.kube.ports import Reader, Scope, Writer
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Ref, Resource, Warn

KINDS = (STATEFULSETS, SERVICES, CONFIG_MAPS, CERTIFICATES, SECRETS)
"""A Secret goes after its Certificate, for which it would be written again."""
HEADER = (
    "External finalizers on owned resources; the engine CR will be garbage-collected now,"
    " and the resources listed here linger until their owners remove the finalizers:"
)


@dataclass(frozen=True, slots=True)
class Cleanup:
    """What deleting the children brought."""

    lingering: tuple[str, ...]  # one line per object that a foreign finalizer holds
    errors: tuple[OperatorError, ...]

    @property
    def external_finalizers(self) -> str:
        return "\n".join([HEADER, *self.lingering]) if self.lingering else ""


async def delete_children(engine: FireboltEngine, reader: Reader, writer: Writer) -> Cleanup:
    """Every kind is tried, whatever happened to the one before: an engine must not hang on the first failure."""
    lingering, errors = list[str](), list[OperatorError]()
    for resource in KINDS:
        try:
            for child in await _owned(engine, resource, reader):
                lingering += _finalizer_line(resource, child)
                await _delete(resource, child, writer)
        except FencedError:
            raise
        except OperatorError as err:
            # A cluster that has no cert-manager (any more) has no Certificates, either.
            if not (isinstance(err, NotFoundError) and resource == CERTIFICATES):
                errors.append(err)
    return Cleanup(tuple(lingering), tuple(errors))


async def _owned(engine: FireboltEngine, resource: Resource, reader: Reader) -> list[Child]:
    """Live, because a finalizer that is released cannot be taken back; by owner, because a label proves nothing."""
    metadata = engine.metadata
    scope = Scope(resource=resource, namespace=metadata.namespace, labels=f"{names.LABEL_ENGINE}={metadata.name}")
    decode = decode_listener_secret if resource == SECRETS else decode_child
    children = (decode(item) async for page in reader.pages(scope) for item in page.items)
    # What is not ours is not even kept for a moment: there may be a lot of it.
    return [child async for child in children if child.is_of_engine(metadata.uid)]


async def _delete(resource: Resource, child: Child, writer: Writer) -> None:
    if not child.metadata.is_deleting:
        ref = Ref(resource, child.metadata.namespace, child.metadata.name)
        await writer.delete(ref, uid=child.metadata.uid)


def _finalizer_line(resource: Resource, child: Child) -> list[str]:
    if not child.metadata.finalizers:
        return []
    return [f"  - {resource.kind}/{child.metadata.name}: {', '.join(child.metadata.finalizers)}"]


def cleanup_error(cleanup: Cleanup) -> TransientError:
    return TransientError(f"cleanup failed with {len(cleanup.errors)} errors, first: {cleanup.errors[0]}")


def lingering_verdict(cleanup: Cleanup) -> Verdict:
    return Verdict(status="False", reason=EngineReason.EXTERNAL_FINALIZER, message=cleanup.external_finalizers)


def lingering_warning(cleanup: Cleanup) -> Warn:
    return Warn(reason=EventReason.EXTERNAL_FINALIZER, action="Deleting", note=cleanup.external_finalizers)
