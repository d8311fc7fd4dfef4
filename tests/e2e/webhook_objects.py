"""What the operator's webhooks rest upon: a Secret with a certificate, and two configurations that trust it."""

import base64
import json
from datetime import timedelta
from http import HTTPStatus

from cryptography import x509

from firebolt_local.testing.installer import NAMESPACE, RELEASE
from firebolt_operator.admission import pki
from firebolt_operator.runtime.clock import SystemClock
from tests.e2e.environment import Environment

CONFIGURATIONS = ("validatingwebhookconfigurations", "mutatingwebhookconfigurations")
_SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/{RELEASE}-webhook-certificate"
_JSON_PATCH = "application/json-patch+json"


def configuration_path(kind: str) -> str:
    return f"/apis/admissionregistration.k8s.io/v1/{kind}/{RELEASE}"


def installed_configurations(environment: Environment) -> list[str]:
    answers = {kind: environment.cluster.http.text("GET", configuration_path(kind))[0] for kind in CONFIGURATIONS}
    return [kind for kind, status in answers.items() if status == HTTPStatus.OK]


def bundles(environment: Environment) -> list[str]:
    """Of every webhook."""
    found = [environment.cluster.http.get(configuration_path(kind)) for kind in CONFIGURATIONS]
    return [webhook["clientConfig"].get("caBundle", "") for each in found for webhook in each["webhooks"]]


def a_foreign_authority() -> bytes:
    return pki.new_authority(SystemClock().now(), timedelta(days=1)).certificate


def break_bundle(environment: Environment, kind: str, bundle: bytes) -> None:
    """Of the first webhook of that kind."""
    value = base64.b64encode(bundle).decode()
    change = [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": value}]
    status, answer = environment.cluster.http.text("PATCH", configuration_path(kind), json.dumps(change), _JSON_PATCH)
    assert status == HTTPStatus.OK, answer


def delete_secret(environment: Environment) -> None:
    status, answer = environment.cluster.http.text("DELETE", _SECRET)
    assert status in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}, answer


def certificate(environment: Environment) -> str:
    """Base64 of the one that replicas show; empty if there is none."""
    status, answer = environment.cluster.http.text("GET", _SECRET)
    return str(json.loads(answer)["data"]["tls.crt"]) if status == HTTPStatus.OK else ""


def left_of(environment: Environment, key: str) -> timedelta:
    """For how long the certificate is valid, or with `ca.crt` the newest authority; for ever if there is none."""
    status, answer = environment.cluster.http.text("GET", _SECRET)
    if status != HTTPStatus.OK:
        return timedelta.max
    pem = base64.b64decode(json.loads(answer)["data"][key])
    return x509.load_pem_x509_certificates(pem)[-1].not_valid_after_utc - SystemClock().now()
