"""May this engine be written?"""

import asyncio
from dataclasses import dataclass
from typing import Final

import msgspec

from firebolt_operator.admission.decide.answers import PASSED, Answer, judged
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.lookups import Lookups
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.manifests.reading import mapping
from firebolt_operator.policy.bounds import ResourceBounds, check_replicas
from firebolt_operator.policy.engine_checks import check_engine_admission, check_new_binding
from firebolt_operator.policy.field_errors import FieldError, Path
from firebolt_operator.policy.gateway_limits import check_gateway_write, is_gateway_account
from firebolt_operator.policy.inherited import FoundClass
from firebolt_operator.policy.warnings import engine_warnings
from firebolt_operator.refs import Manifest

ACCOUNT: Final = "system:serviceaccount:{}:"
REPLICAS: Final = Path("spec").child("replicas")


class _Scale(msgspec.Struct, frozen=True):
    class Spec(msgspec.Struct, frozen=True):
        replicas: int = 0

    spec: Spec = Spec()


@dataclass(frozen=True, slots=True)
class EngineAdmission:
    lookups: Lookups
    bounds: ResourceBounds

    async def validate(self, request: AdmissionRequest) -> Answer:
        """Raises SpecRejectedError for what is no engine, and OperatorError for what cannot be found out."""
        limits = await self._gateway_errors(request)
        if limits or request.operation == "DELETE":
            return judged(limits)
        if request.subresource == "scale":
            return judged(check_replicas(_scaled_to(request.new), REPLICAS, self.bounds))
        engine, old = parse_engine(request.new), request.stored(parse_engine)
        if engine.spec is None or (old is not None and engine.spec == old.spec):
            # Whoever labels an engine, or leads it to its end, must not be held up by what others did to its class.
            return PASSED
        return await self._judge(request.namespace, engine.spec, old.spec if old else None)

    async def _judge(self, namespace: str, spec: EngineSpec, old: EngineSpec | None) -> Answer:
        async with asyncio.TaskGroup() as group:
            finding = group.create_task(self.lookups.engine_class(namespace, spec.engine_class_ref), name="class")
            reading = group.create_task(self.lookups.instance(namespace, spec.instance_ref), name="instance")
            sharing = group.create_task(self.lookups.preset(namespace), name="preset")
        found = finding.result()
        is_bound = old is not None and old.engine_class_ref == spec.engine_class_ref
        errors = [
            *check_new_binding(found, is_bound_already=is_bound),
            *check_engine_admission(spec, found, reading.result(), self.bounds, sharing.result()),
        ]
        return judged(errors, engine_warnings(spec, found if isinstance(found, FoundClass) else None))

    async def _gateway_errors(self, request: AdmissionRequest) -> list[FieldError]:
        """Only accounts of the engine's own namespace can be gateways: for all others nothing is read."""
        if not request.username.startswith(ACCOUNT.format(request.namespace)):
            return []
        old, new = _document(request.old), _document(request.new)
        instance = str(mapping((old or new or {}).get("spec")).get("instanceRef", ""))
        listed = await self.lookups.gateway_accounts(request.namespace)
        if not is_gateway_account(request.username, request.namespace, instance, listed):
            return []
        return check_gateway_write(old, None if request.subresource else new)


def _document(body: bytes) -> Manifest | None:
    return msgspec.json.decode(body, type=Manifest) if body else None


def _scaled_to(body: bytes) -> int:
    try:
        return msgspec.json.decode(body, type=_Scale).spec.replicas
    except msgspec.MsgspecError as err:
        raise SpecRejectedError("spec.replicas", str(err)) from err
