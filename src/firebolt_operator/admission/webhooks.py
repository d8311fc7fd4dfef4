"""Which questions does the operator answer, under which paths?"""

from collections.abc import Awaitable, Callable

from firebolt_operator.admission.classes import ClassAdmission
from firebolt_operator.admission.decide.answers import PASSED, Allowed, Answer
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.server import Handler, Webhook, webhook_path
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.refs import Resource

VALIDATE, MUTATE = "validate", "mutate"


def webhooks(engines: EngineAdmission, classes: ClassAdmission, instances: InstanceAdmission) -> list[Webhook]:
    return [
        _webhook(VALIDATE, FIREBOLT_ENGINES, engines.validate),
        _webhook(VALIDATE, FIREBOLT_ENGINE_CLASSES, classes.validate),
        _webhook(VALIDATE, FIREBOLT_INSTANCES, instances.validate),
        _webhook(MUTATE, FIREBOLT_ENGINE_CLASSES, _on_creation(classes.default)),
        _webhook(MUTATE, FIREBOLT_INSTANCES, _on_creation(instances.default)),
    ]


def _webhook(purpose: str, resource: Resource, handle: Handler) -> Webhook:
    path = webhook_path(purpose, resource.kind.lower())
    return Webhook(resource=resource.plural, path=path, handle=handle, is_mutating=purpose == MUTATE)


def _on_creation(default: Callable[[AdmissionRequest], Awaitable[Allowed]]) -> Handler:
    async def handle(request: AdmissionRequest) -> Answer:
        return await default(request) if request.operation == "CREATE" else PASSED

    return handle
