"""Do TLS on both sides of the gateway and a login hold what is promised, with real pods and cert-manager's programs?"""

import ssl

import aiohttp
import jwt
import pytest

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import CERTIFICATES, FIREBOLT_ENGINES, SECRETS
from firebolt_operator.errors import OperatorError
from firebolt_operator.kube.ports import Scope
from tests.e2e.secure_scenario import DESCRIPTION, TOKEN, SecureScenario
from tests.e2e.secured import PASSWORD

pytestmark = pytest.mark.quick


async def test_given_tls_and_a_login_when_two_engines_are_up_then_the_live_contract_holds(
    secure: SecureScenario,
) -> None:
    await secure.make_instance()
    for name in ("first", "second"):
        await secure.make_engine(name, replicas=1)
    for name in ("first", "second"):
        await secure.at_rest(name, 1)
    await secure.until_ready()
    instance = secure.found_instance()
    assert instance is not None
    assert _said(instance) == {"AuthReady": "True", "EngineTLSReady": "True", "GatewayTLSReady": "True"}
    resource = f"https://firebolt.io/instance/{instance.spec.id}"
    await _engines_say_who_they_are(secure, instance.spec.id, resource)
    await _logins_are_refused(secure, resource)
    await _a_token_is_good_everywhere(secure, resource)
    with pytest.raises(OperatorError, match="immutable"):
        await secure.change_instance({"auth": {"local": {"signingAlgorithm": "RS256"}}})
    await _certificates_go_with_their_engine(secure)


async def _engines_say_who_they_are(secure: SecureScenario, instance_id: str, resource: str) -> None:
    stranger = secure.direct_plan("first", tls=ssl.create_default_context())
    with pytest.raises(aiohttp.ClientConnectorCertificateError):
        await secure.get(stranger, DESCRIPTION)
    _, described = await secure.get(secure.direct_plan("first"), DESCRIPTION)
    oauth = described["instance"]["auth"]["oauth"]
    assert described["instance"]["id"] == instance_id
    assert oauth["protectedResource"]["resource"] == resource
    assert [each["name"] for each in oauth["authorizationServers"]] == ["_local"]


async def _logins_are_refused(secure: SecureScenario, resource: str) -> None:
    assert (await secure.ask_with("", secure.plan("first"))).status == 401
    wrong_forms = {
        "invalid_client": {"client_secret": "wrong"},
        "invalid_request": {"resource": ""},
        "invalid_target": {"resource": f"{resource}-of-somebody-else"},
    }
    for error, wrong in wrong_forms.items():
        status, told = await secure.get(secure.plan("first"), TOKEN, data=_form(resource) | wrong)
        assert (status in {400, 401}, told["error"]) == (True, error)


async def _a_token_is_good_everywhere(secure: SecureScenario, resource: str) -> None:
    """One engine gives it, both believe it, also through the gateway."""
    _, given = await secure.get(secure.direct_plan("first"), TOKEN, data=_form(resource))
    token = given["access_token"]
    assert jwt.get_unverified_header(token)["kid"] == "signing-1"
    claims = jwt.decode(token, options={"verify_signature": False})
    assert (claims["iss"], claims["aud"]) == (resource, resource)
    for plan in (secure.direct_plan("first"), secure.direct_plan("second"), secure.plan("second")):
        assert (await secure.ask_with(token, plan)).problem == ""
    assert await secure.key_ids(secure.direct_plan("second")) == ["signing-1"]


async def _certificates_go_with_their_engine(secure: SecureScenario) -> None:
    issued = await secure.client.get(secure.ref(SECRETS, "first-g0-engine-tls"))
    assert issued is not None
    assert issued["metadata"]["labels"][LABEL_ENGINE] == "first"
    await secure.delete(secure.ref(FIREBOLT_ENGINES, "first"))
    await secure.until(lambda: secure.informer.get(FIREBOLT_ENGINES, "first") is None, "the engine to be gone")
    for kind in (CERTIFICATES, SECRETS):
        left = await secure.client.list(Scope(resource=kind, namespace=secure.namespace))
        assert [each["metadata"]["name"] for each in left if each["metadata"]["name"].startswith("first-")] == []


def _form(resource: str) -> dict[str, str]:
    login = {"client_id": "firebolt", "client_secret": PASSWORD}
    return {"grant_type": "client_credentials", **login, "resource": resource}


def _said(instance: FireboltInstance) -> dict[str, str]:
    kinds = ("AuthReady", "EngineTLSReady", "GatewayTLSReady")
    found = {kind: find_condition(instance.status.conditions, kind) for kind in kinds}
    return {kind: each.status for kind, each in found.items() if each is not None}
