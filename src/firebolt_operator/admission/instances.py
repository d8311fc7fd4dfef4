"""May this instance be written?"""

from collections.abc import Callable
from dataclasses import dataclass

import msgspec

from firebolt_operator.admission.decide.answers import PASSED, Allowed, Answer, judged
from firebolt_operator.admission.decide.defaults import instance_defaults
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.lookups import Lookups
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.manifests.reading import mapping, text
from firebolt_operator.policy.instance_checks import check_instance, check_instance_update
from firebolt_operator.policy.warnings import instance_warnings
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class InstanceAdmission:
    lookups: Lookups
    operator_account: str
    new_id: Callable[[Manifest | None], str]  # for an instance with that template of the metadata service

    async def validate(self, request: AdmissionRequest) -> Answer:
        """Raises SpecRejectedError for what is no instance."""
        if request.operation == "DELETE":
            return PASSED
        instance, old = parse_instance(request.new), request.stored(parse_instance)
        if old is not None and instance.spec == old.spec:
            return PASSED
        errors = [
            *check_instance(instance, self.operator_account),
            *(check_instance_update(old.spec, instance.spec) if old else ()),
        ]
        return judged(errors, instance_warnings(instance.spec))

    async def default(self, request: AdmissionRequest) -> Allowed:
        instance = msgspec.json.decode(request.new, type=Manifest)
        # A database that was kept has its id already: the controller, who sees all of it, takes that over.
        name = text(mapping(instance.get("metadata")).get("name"))
        if await self.lookups.may_have_credentials(request.namespace, name):
            return PASSED
        template = mapping(mapping(instance.get("spec")).get("metadata")).get("template")
        return instance_defaults(instance, self.new_id(template))
