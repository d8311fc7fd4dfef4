"""Is every duration of our kinds looked at, and named when it cannot be read?"""

import pytest

from firebolt_operator.api.duration_fields import malformed_durations
from firebolt_operator.api.model import Model
from firebolt_operator.api.serialise import parse_engine, parse_engine_class, parse_instance
from firebolt_operator.refs import Manifest

AUTO_STOP: Manifest = {"activeReplicas": 1, "idleTimeout": "x", "pollInterval": "x"}
CERTIFICATE: Manifest = {"issuerRef": {"name": "ca"}, "duration": "x", "renewBefore": "x"}


def an_engine(**spec: object) -> Model:
    return parse_engine({"metadata": {}, "spec": {"instanceRef": "main", "replicas": 1} | spec})


def a_class(**spec: object) -> Model:
    return parse_engine_class({"metadata": {}, "spec": {"template": {}} | spec})


def an_instance(**spec: object) -> Model:
    return parse_instance({"metadata": {}, "spec": {"metadata": {}, "gateway": {}} | spec})


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        pytest.param(
            an_engine(drainCheckInterval="x", drainTimeout="x", autoStop=AUTO_STOP),
            [
                "spec.drainCheckInterval",
                "spec.drainTimeout",
                "spec.autoStop.idleTimeout",
                "spec.autoStop.pollInterval",
            ],
            id="of-an-engine",
        ),
        pytest.param(
            a_class(drainCheckInterval="x", drainTimeout="x", autoStop=AUTO_STOP),
            [
                "spec.drainCheckInterval",
                "spec.drainTimeout",
                "spec.autoStop.idleTimeout",
                "spec.autoStop.pollInterval",
            ],
            id="of-a-class",
        ),
        pytest.param(
            an_instance(
                auth={
                    "local": {
                        "admin": {"password": {"key": "k"}},
                        "signingKeys": {"certManager": CERTIFICATE, "rotationInterval": "x", "retainDuration": "x"},
                    }
                },
                tls={"gateway": {"certManager": CERTIFICATE}, "engine": {"certManager": CERTIFICATE}},
            ),
            [
                "spec.auth.local.signingKeys.certManager.duration",
                "spec.auth.local.signingKeys.certManager.renewBefore",
                "spec.auth.local.signingKeys.rotationInterval",
                "spec.auth.local.signingKeys.retainDuration",
                "spec.tls.gateway.certManager.duration",
                "spec.tls.gateway.certManager.renewBefore",
                "spec.tls.engine.certManager.duration",
                "spec.tls.engine.certManager.renewBefore",
            ],
            id="of-an-instance",
        ),
        pytest.param(an_engine(drainTimeout="1h", autoStop={"activeReplicas": 1}), [], id="none-when-all-are-fine"),
        pytest.param(parse_engine({"metadata": {}}), [], id="none-without-a-spec"),
    ],
)
def test_malformed_durations(model: Model, fields: list[str]) -> None:
    assert [refusal.field for refusal in malformed_durations(model)] == fields


def test_the_refusal_says_what_is_wrong() -> None:
    (refusal,) = malformed_durations(an_engine(drainTimeout="1 day"))
    assert str(refusal) == 'spec.drainTimeout: "1 day" is not a duration; write it like 30s or 1h30m'
