"""Which API server, and as whom?"""

from pathlib import Path

import pytest
import yaml

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.credentials import load_credentials
from tests.unit.kube.kubeconfigs import a_kubeconfig, an_authority

NOWHERE = Path("/nonexistent/serviceaccount")


def write(path: Path, server: str) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(a_kubeconfig(server=server)))
    return str(path)


@pytest.fixture
def service_account(tmp_path: Path) -> Path:
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "token").write_text("t0ken")
    (folder / "namespace").write_text("firebolt\n")
    (folder / "ca.crt").write_bytes(an_authority(tmp_path).pair.certificate.read_bytes())
    return folder


IN_POD = {"KUBERNETES_SERVICE_HOST": "10.96.0.1", "KUBERNETES_SERVICE_PORT": "443"}


def test_the_first_source_that_is_there_wins(tmp_path: Path, service_account: Path) -> None:
    flag = write(tmp_path / "flag", "http://flag")
    variable = write(tmp_path / "variable", "http://variable")
    write(tmp_path / "home/.kube/config", "http://home")
    env = {"KUBECONFIG": variable, "HOME": str(tmp_path / "home"), **IN_POD}

    def server(kubeconfig: str, *without: str) -> str:
        left = {key: value for key, value in env.items() if key not in without}
        return load_credentials(kubeconfig, left, service_account=service_account).server

    assert server(flag) == "http://flag"
    assert server("") == "http://variable"
    assert server("", "KUBECONFIG") == "https://10.96.0.1:443"
    assert server("", "KUBECONFIG", "KUBERNETES_SERVICE_HOST") == "http://home"


def test_given_nothing_then_everything_that_was_tried_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_credentials("", {"HOME": str(tmp_path)}, service_account=NOWHERE)
    for tried in ("KUBECONFIG", str(NOWHERE), "KUBERNETES_SERVICE_HOST", f"{tmp_path}/.kube/config"):
        assert tried in str(caught.value)


def test_given_a_named_file_that_is_missing_then_no_other_source_is_taken(service_account: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"/nonexistent/config.*No such file"):
        load_credentials("/nonexistent/config", IN_POD, service_account=service_account)


async def test_inside_a_pod_nothing_is_written(service_account: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.NamedTemporaryFile", None)
    found = load_credentials("", IN_POD, service_account=service_account)
    proof = await found.identity.proof()
    assert (found.namespace, proof.authorization) == ("firebolt", "Bearer t0ken")
    assert [each["subject"] for each in proof.tls.get_ca_certs()] == [((("commonName", "firebolt-local"),),)]


def test_an_ipv6_service_address_is_bracketed(service_account: Path) -> None:
    env = {**IN_POD, "KUBERNETES_SERVICE_HOST": "fd00::1"}
    assert load_credentials("", env, service_account=service_account).server == "https://[fd00::1]:443"


def test_given_a_service_account_without_authority_then_it_says_so(service_account: Path) -> None:
    (service_account / "ca.crt").unlink()
    with pytest.raises(ConfigurationError, match=r"is incomplete.*ca\.crt"):
        load_credentials("", IN_POD, service_account=service_account)
