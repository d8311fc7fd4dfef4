"""May what engines share be written, or deleted? Classes, presets, classes of the cluster: one judge per kind."""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from firebolt_operator.admission.decide.answers import PASSED, Allowed, Answer, judged
from firebolt_operator.admission.decide.defaults import guarded_defaults
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.lookups import IsWatched
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.serialise import parse_cluster_engine_class, parse_engine_class, parse_engine_preset
from firebolt_operator.kube.ports import Reader
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.class_checks import check_class_admission, check_preset_template
from firebolt_operator.policy.cluster_class_checks import check_cluster_class
from firebolt_operator.policy.field_errors import FieldError
from firebolt_operator.policy.guards import (
    CLASS_GUARD,
    CLUSTER_CLASS_GUARD,
    PRESET_GUARD,
    Guard,
    check_deletion,
    check_is_guarded,
)
from firebolt_operator.policy.warnings import class_warnings, template_warnings
from firebolt_operator.reconciling.bound_engines import fetch_bound_engines
from firebolt_operator.refs import Manifest, Ref


class _Outline(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


@dataclass(frozen=True, slots=True)
class Finding:
    """What is to be said of an object as it shall be, and of what of it the verdict depends on."""

    spec: object
    errors: Callable[[], list[FieldError]]
    warnings: Callable[[], list[str]]


Judge = Callable[[Manifest | bytes], Finding]
"""Raises SpecRejectedError for what is no such object."""


@dataclass(frozen=True, slots=True)
class GuardedAdmission:
    guard: Guard
    judge: Judge
    reader: Reader
    is_watched: IsWatched

    async def validate(self, request: AdmissionRequest) -> Answer:
        """Raises SpecRejectedError for what cannot be read, and OperatorError for what cannot be found out."""
        if request.operation == "DELETE":
            return await self._judge_deletion(request)
        found, old = self.judge(request.new), request.stored(self.judge)
        if old is not None and found.spec == old.spec:
            return PASSED
        return judged(found.errors(), found.warnings())

    async def default(self, request: AdmissionRequest) -> Allowed:
        """What nobody looks after gets no finalizer: nobody would ever take it off again."""
        document = msgspec.json.decode(request.new, type=Manifest)
        metadata = _metadata(request.new)
        is_ours = metadata is not None and self.is_watched(request.namespace, metadata.labels)
        return guarded_defaults(document, self.guard.finalizer) if is_ours else PASSED

    async def _judge_deletion(self, request: AdmissionRequest) -> Answer:
        metadata = _metadata(request.old) or ObjectMeta()
        if metadata.is_deleting:
            return PASSED
        ref = Ref(self.guard.resource, request.namespace, request.name)
        bound = check_deletion(self.guard, ref, await fetch_bound_engines(self.guard, ref, self.reader))
        is_guarded = self.guard.finalizer in metadata.finalizers
        is_ours = self.is_watched(request.namespace, metadata.labels)
        return judged(bound or check_is_guarded(ref, is_guarded=is_guarded or not is_ours))


def guarded_admissions(reader: Reader, bounds: ResourceBounds, is_watched: IsWatched) -> tuple[GuardedAdmission, ...]:
    def judge_class(raw: Manifest | bytes) -> Finding:
        spec = parse_engine_class(raw).spec
        return Finding(spec, lambda: check_class_admission(spec, bounds), lambda: class_warnings(spec))

    def judge_preset(raw: Manifest | bytes) -> Finding:
        spec = parse_engine_preset(raw).spec
        template = spec.template if spec else None
        return Finding(spec, lambda: check_preset_template(spec), lambda: template_warnings(template))

    def judge_cluster_class(raw: Manifest | bytes) -> Finding:
        spec = parse_cluster_engine_class(raw).spec
        template = spec.template if spec else None
        return Finding(spec, lambda: check_cluster_class(spec), lambda: template_warnings(template))

    return (
        GuardedAdmission(CLASS_GUARD, judge_class, reader, is_watched),
        GuardedAdmission(PRESET_GUARD, judge_preset, reader, is_watched),
        GuardedAdmission(CLUSTER_CLASS_GUARD, judge_cluster_class, reader, is_watched),
    )


def _metadata(body: bytes) -> ObjectMeta | None:
    try:
        return msgspec.json.decode(body, type=_Outline).metadata
    except msgspec.MsgspecError:
        return None
