"""At which moments of a rotation may somebody strike? Ten of them, from the first trace of the next key on."""

from collections.abc import Callable

from firebolt_operator.api.auth import SigningKeyStatus
from firebolt_operator.api.names import LABEL_GENERATION, engine_service_name, signing_key_name
from firebolt_operator.api.resources import CERTIFICATES, PODS, SECRETS, SERVICES, STATEFULSETS
from tests.e2e.informer import is_ready
from tests.e2e.secure_scenario import SecureScenario, key_phases

OLD, NEW = "signing-1", "signing-2"
RotationPoint = Callable[[SecureScenario, str], bool]


def _key(secure: SecureScenario, name: str) -> SigningKeyStatus | None:
    found = secure.found_instance()
    auth = found.status.auth if found else None
    return next((key for key in auth.signing_keys if key.id == name), None) if auth else None


def _has_certificate(secure: SecureScenario, _: str) -> bool:
    return secure.informer.get(CERTIFICATES, signing_key_name(secure.instance, 2)) is not None


def _has_secret(secure: SecureScenario, _: str) -> bool:
    return secure.informer.get(SECRETS, signing_key_name(secure.instance, 2)) is not None


def _is_listed(secure: SecureScenario, _: str) -> bool:
    return _key(secure, NEW) is not None


def _is_promoted(secure: SecureScenario, _: str) -> bool:
    found = secure.found_instance()
    return found is not None and key_phases(found).get(NEW) == "Active"


def _is_anchored(secure: SecureScenario, _: str) -> bool:
    old = _key(secure, OLD)
    return old is not None and old.retire_eligible_at is not None


def _has_statefulset(generation: int) -> RotationPoint:
    return lambda secure, engine: bool(secure.informer.all_of(STATEFULSETS, engine, generation))


def _has_ready_pods(generation: int) -> RotationPoint:
    def has(secure: SecureScenario, engine: str) -> bool:
        pods = secure.informer.all_of(PODS, engine, generation)
        return bool(pods) and all(map(is_ready, pods))

    return has


def _selects(generation: int) -> RotationPoint:
    def selects(secure: SecureScenario, engine: str) -> bool:
        service = secure.informer.get(SERVICES, engine_service_name(engine))
        return service is not None and service["spec"]["selector"][LABEL_GENERATION] == str(generation)

    return selects


ROTATION_POINTS: dict[str, RotationPoint] = {
    "the next key is asked for": _has_certificate,
    "the next key is there": _has_secret,
    "the next key is listed": _is_listed,
    "a generation that accepts it begins": _has_statefulset(1),
    "its pods are ready": _has_ready_pods(1),
    "it gets the queries": _selects(1),
    "the next key is promoted": _is_promoted,
    "a generation that signs with it begins": _has_statefulset(2),
    "that one gets the queries": _selects(2),
    "the old key signs no more": _is_anchored,
}
