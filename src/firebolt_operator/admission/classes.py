"""May this class be written, or deleted?"""

from dataclasses import dataclass

import msgspec

from firebolt_operator.admission.decide.answers import PASSED, Allowed, Answer, judged
from firebolt_operator.admission.decide.defaults import class_defaults
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.lookups import IsWatched
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.names import FINALIZER_ENGINE_CLASS
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES
from firebolt_operator.api.serialise import parse_engine_class
from firebolt_operator.kube.ports import Reader
from firebolt_operator.policy.bounds import ResourceBounds
from firebolt_operator.policy.class_checks import check_class_admission, check_class_deletion, check_class_guard
from firebolt_operator.policy.warnings import class_warnings
from firebolt_operator.reconciling.bound_engines import fetch_bound_engines
from firebolt_operator.refs import Manifest, Ref


class _Outline(msgspec.Struct, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


@dataclass(frozen=True, slots=True)
class ClassAdmission:
    reader: Reader
    bounds: ResourceBounds
    is_watched: IsWatched

    async def validate(self, request: AdmissionRequest) -> Answer:
        """Raises SpecRejectedError for what is no class, and OperatorError for what cannot be found out."""
        if request.operation == "DELETE":
            return await self._judge_deletion(request)
        engine_class, old = parse_engine_class(request.new), request.stored(parse_engine_class)
        if old is not None and engine_class.spec == old.spec:
            return PASSED
        return judged(check_class_admission(engine_class.spec, self.bounds), class_warnings(engine_class.spec))

    async def default(self, request: AdmissionRequest) -> Allowed:
        """A class that nobody looks after gets no finalizer: nobody would ever take it off again."""
        document = msgspec.json.decode(request.new, type=Manifest)
        metadata = _metadata(request.new)
        is_ours = metadata is not None and self.is_watched(request.namespace, metadata.labels)
        return class_defaults(document) if is_ours else PASSED

    async def _judge_deletion(self, request: AdmissionRequest) -> Answer:
        metadata = _metadata(request.old) or ObjectMeta()
        if metadata.is_deleting:
            return PASSED
        ref = Ref(FIREBOLT_ENGINE_CLASSES, request.namespace, request.name)
        bound = check_class_deletion(ref, await fetch_bound_engines(ref, self.reader))
        is_guarded = FINALIZER_ENGINE_CLASS in metadata.finalizers
        is_ours = self.is_watched(request.namespace, metadata.labels)
        return judged(bound or check_class_guard(ref, is_guarded=is_guarded or not is_ours))


def _metadata(body: bytes) -> ObjectMeta | None:
    try:
        return msgspec.json.decode(body, type=_Outline).metadata
    except msgspec.MsgspecError:
        return None
