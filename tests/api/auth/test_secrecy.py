"""Nothing that is secret leaves its Secret: planted values are looked for wherever the operator writes anything."""

import base64
import json
import logging
from datetime import timedelta

import pytest

from firebolt_operator.api.resources import (
    CERTIFICATES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    EVENTS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SECRETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from tests.api.auth.people import ADMIN, AUTH, Administrator
from tests.api.auth.running import Operator
from tests.support.cert_manager import CertManager

ISSUED: Manifest = {"enabled": True, "certManager": {"issuerRef": {"name": "ca"}}}
PLANTED = ("planted-first-password", "planted-second-password")
WRITTEN = (
    CERTIFICATES,
    CONFIG_MAPS,
    DEPLOYMENTS,
    EVENTS,
    FIREBOLT_ENGINES,
    FIREBOLT_INSTANCES,
    PODS,
    SERVICES,
    STATEFULSETS,
)


def forms(secret: str) -> set[str]:
    """As it is, and as it would look in a Secret or inside another document."""
    lines = [line for line in secret.splitlines() if line and "-----" not in line]
    return {form for line in lines for form in (line, base64.b64encode(line.encode()).decode().rstrip("=")[:-1])}


async def everything(administrator: Administrator) -> dict[str, str]:
    found = {
        resource.plural: await administrator.client.list(Scope(resource=resource, namespace=administrator.namespace))
        for resource in WRITTEN
    }
    return {plural: json.dumps(objects, default=str) for plural, objects in found.items()}


async def test_no_password_and_no_private_key_is_ever_told_to_anybody(
    operator: Operator,
    administrator: Administrator,
    cert_manager: CertManager,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    await administrator.make_password(PLANTED[0])
    await administrator.make_instance(auth=AUTH, tls={"engine": ISSUED, "gateway": ISSUED})
    await administrator.make_engine()
    await administrator.until_serving(0)
    await administrator.change_password(PLANTED[1])
    await administrator.until_serving(1)
    operator.skip(timedelta(hours=721))
    await administrator.until_keys(operator, signing_1="Active", signing_2="ValidationOnly")
    # All that goes wrong is told as well.
    await administrator.patch(SECRETS, "inst-auth-signing", {"metadata": {"annotations": None}})
    await operator.next_pass()
    await administrator.delete(SECRETS, ADMIN)
    await administrator.until_auth("AdminSecretMissing", operator)
    await operator.settled()
    told = {**await everything(administrator), "logs": caplog.text, "metrics": await operator.scraped()}
    told["trusted CAs"] = json.dumps(await administrator.read(SECRETS, "inst-engine-ca-bundle"))
    told["log fields"] = "\n".join(str(vars(record)) for record in caplog.records)
    assert cert_manager.private_keys
    planted = set[str]().union(*(forms(secret) for secret in (*PLANTED, *cert_manager.private_keys)))
    assert {(place, form) for place, text in told.items() for form in planted if form in text} == set()
    # They are where they belong, so the search can find them.
    for name in ("inst-auth-signing", "inst-gateway-tls", "inst-engine-tls", "eng-g1-engine-tls"):
        kept = await administrator.read(SECRETS, name)
        assert any(form in base64.b64decode(kept["data"]["tls.key"]).decode() for form in planted)
