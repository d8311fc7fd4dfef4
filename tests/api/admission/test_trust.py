"""Does the API server trust the operator again, whatever happened to certificates and configurations?"""

import base64
import json
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from cryptography import x509

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.admission.pki import new_authority
from firebolt_operator.runtime.clock import SystemClock
from tests.api.admission.load import Load
from tests.api.admission.place import Place, engine, running_place

CLOCK = SystemClock()
JSON_PATCH = "application/json-patch+json"
OTHERS = base64.b64encode(new_authority(CLOCK.now(), timedelta(days=1)).certificate).decode()


def bundles(place: Place) -> list[str]:
    found = (place.plane.http.get(place.configuration_path(kind)) for kind in ("validating", "mutating"))
    return [webhook["clientConfig"].get("caBundle", "") for each in found for webhook in each["webhooks"]]


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["validating", "mutating"])
@pytest.mark.parametrize("broken", ["", OTHERS], ids=["empty", "somebody-elses"])
def test_a_bundle_broken_by_hand_is_mended_within_seconds(place: Place, kind: str, broken: str) -> None:
    (good,) = set(bundles(place))
    patch = [{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": broken}]
    began = time.monotonic()
    code, answer = place.plane.http.text("PATCH", place.configuration_path(kind), json.dumps(patch), JSON_PATCH)
    assert code == 200, answer
    place.plane.wait_until(lambda: set(bundles(place)) == {good}, "the bundle is as it was")
    taken = time.monotonic() - began
    print(f"mended after {taken:.2f} s")
    assert taken < 5


def test_a_configuration_that_is_installed_later_is_trusted(place: Place) -> None:
    """As when helm makes it anew, or before any replica serves: what the chart renders has no bundle."""
    assert "caBundle" not in json.dumps(place.configurations())
    place.uninstall()
    place.install()
    place.plane.wait_until(lambda: all(bundles(place)), "the new configurations have a bundle")
    place.plane.wait_until(place.is_judging, "the API server asks it again")


def test_a_lost_secret_is_made_again_and_no_write_fails(place: Place) -> None:
    path = place.secret_path
    before = place.plane.http.get(path)["data"]["tls.crt"]
    place.plane.http.delete(path)
    answers = list[int]()

    def is_back() -> bool:
        answers.append(place.create(engine("steady"), dry_run=True)[0])
        status, answer = place.plane.http.text("GET", path)
        return status == 200 and json.loads(answer)["data"]["tls.crt"] != before

    place.plane.wait_until(is_back, "another certificate")
    answers += [place.create(engine("steady"), dry_run=True)[0] for _ in range(50)]
    assert set(answers) == {201}
    assert base64.b64decode(bundles(place)[0]).count(b"BEGIN CERTIFICATE") == 2


@pytest.fixture
def short_lived(control_plane: ControlPlane, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Place]:
    with running_place(control_plane, tmp_path / "log", more=(f"--webhook-cert-life={request.param}",)) as place:
        yield place


def certificates(place: Place, key: str) -> list[x509.Certificate]:
    data = place.plane.http.get(place.secret_path)["data"]
    return x509.load_pem_x509_certificates(base64.b64decode(data[key]))


@pytest.mark.slow
@pytest.mark.parametrize("short_lived", ["10s"], indirect=True)
@pytest.mark.parametrize("key", ["tls.crt", "ca.crt"], ids=["certificate", "authority"])
def test_a_certificate_that_ran_out_meanwhile_is_replaced(short_lived: Place, key: str) -> None:
    short_lived.stop()
    ends = max(each.not_valid_after_utc for each in certificates(short_lived, key))
    while CLOCK.now() <= ends:
        time.sleep(1)
    code, answer = short_lived.create(engine("new"), dry_run=True)
    assert (code, "failed calling webhook" in answer) == (500, True), answer
    short_lived.start()
    assert min(each.not_valid_after_utc for each in certificates(short_lived, "tls.crt")) > ends


@pytest.mark.slow
@pytest.mark.parametrize("short_lived", ["60s"], indirect=True)
def test_no_request_is_lost_while_certificates_and_authorities_change(short_lived: Place) -> None:
    """Two thirds into its life a certificate is replaced, and so is its authority, which lives four times as long."""
    seen = set[int]()
    authorities = set[bytes]()

    def look() -> bool:
        seen.update(each.serial_number for each in certificates(short_lived, "tls.crt"))
        authorities.update(each.tbs_certificate_bytes for each in certificates(short_lived, "ca.crt"))
        return len(authorities) > 1 and len(certificates(short_lived, "ca.crt")) == 1

    counts = Load(short_lived, threads=2).until(look, seconds=600)
    print(f"{counts}; {len(seen)} certificates of {len(authorities)} authorities were shown")
    assert set(counts) == {"201"}
    assert len(seen) > 2
