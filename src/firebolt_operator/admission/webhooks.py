"""Which questions does the operator answer, under which paths?"""

from collections.abc import Awaitable, Callable, Iterable

from firebolt_operator.admission.classes import GuardedAdmission
from firebolt_operator.admission.decide.answers import PASSED, Allowed, Answer
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.engines import EngineAdmission
from firebolt_operator.admission.instances import InstanceAdmission
from firebolt_operator.admission.server import Handler, Webhook, webhook_path
from firebolt_operator.api.resources import FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.refs import Resource

VALIDATE, MUTATE = "validate", "mutate"


def webhooks(
    engines: EngineAdmission, guarded: Iterable[GuardedAdmission], instances: InstanceAdmission
) -> list[Webhook]:
    return [
        _webhook(VALIDATE, FIREBOLT_ENGINES, engines.validate),
        _webhook(VALIDATE, FIREBOLT_INSTANCES, instances.validate),
        _webhook(MUTATE, FIREBOLT_INSTANCES, _on_creation(instances.default)),
        *(webhook for each in guarded for webhook in _of_guarded(each)),
    ]


def _of_guarded(guarded: GuardedAdmission) -> tuple[Webhook, Webhook]:
    resource = guarded.guard.resource
    return (
        _webhook(VALIDATE, resource, guarded.validate),
        _webhook(MUTATE, resource, _on_creation(guarded.default)),
    )


def _webhook(purpose: str, resource: Resource, handle: Handler) -> Webhook:
    path = webhook_path(purpose, resource.kind.lower())
    return Webhook(resource=resource.plural, path=path, handle=handle, is_mutating=purpose == MUTATE)


def _on_creation(default: Callable[[AdmissionRequest], Awaitable[Allowed]]) -> Handler:
    async def handle(request: AdmissionRequest) -> Answer:
        return await default(request) if request.operation == "CREATE" else PASSED

    return handle
