"""Carries a plan out: the steps in their order. The status comes last, and elsewhere."""

from collections.abc import MutableMapping, Sequence
from dataclasses import dataclass

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.errors import AlreadyExistsError, ConflictError, FencedError, OperatorError
from firebolt_operator.instance.facts import Answer
from firebolt_operator.instance.inventory import instance_ref
from firebolt_operator.instance.plan import Amend, Apply, Create, Refuse, Remake, Step, Unknown, Write
from firebolt_operator.kube.ports import Writer
from firebolt_operator.manifests.live_objects import live_object
from firebolt_operator.manifests.references import ref_of
from firebolt_operator.reconciling.patches import patch_as_read
from firebolt_operator.refs import Manifest, Ref


@dataclass(frozen=True, slots=True)
class StepFailure:
    step: Step
    error: OperatorError


async def carry_out(steps: Sequence[Step], writer: Writer, answers: MutableMapping[Ref, Answer]) -> StepFailure | None:
    """The first failure ends it: what follows rests on what came before."""
    for step in steps:
        try:
            await _write(step.write, writer, answers)
        except FencedError:
            raise
        except OperatorError as err:
            return StepFailure(step, err)
    return None


async def _write(write: Write, writer: Writer, answers: MutableMapping[Ref, Answer]) -> None:
    match write:
        case Apply(manifest):
            answers[ref_of(manifest)] = Answer(manifest, live_object(await writer.apply(manifest)))
        case Create(manifest):
            await _create(manifest, writer)
        case Amend(manifest, patch):
            await writer.merge_patch(ref_of(manifest), patch)
        case Remake(live, manifest):
            await writer.delete(ref_of(manifest), uid=live.metadata.uid)
            await writer.apply(manifest)
        case Refuse(_, problem) | Unknown(_, problem):
            raise OperatorError(problem)


async def _create(manifest: Manifest, writer: Writer) -> None:
    try:
        await writer.create(manifest)
    except AlreadyExistsError as err:
        # Somebody was quicker: whatever it says counts, and the next pass reads it.
        raise ConflictError(str(err)) from err


async def patch_instance(instance: FireboltInstance, patch: Manifest, writer: Writer) -> None:
    await patch_as_read(instance_ref(instance), instance.metadata, patch, writer)
