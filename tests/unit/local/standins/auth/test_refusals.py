"""An engine does not start on secrets that it cannot use, nor on settings of authentication that it does not know."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from firebolt_local.cluster.pki import Authority, Subject
from firebolt_local.standins.engine.config import load_config
from firebolt_local.standins.engine.main import main
from firebolt_local.standins.engine.security import Security, load_security
from firebolt_local.standins.strict_files import EXIT_CONFIG, ConfigError
from firebolt_operator.api.auth import JitProvisioning, OIDCJwtSpec, OIDCProvider, OIDCSpec
from firebolt_operator.refs import Manifest
from tests.support.auth import an_auth_spec
from tests.support.standins.secured import HOST, RESOURCE, Secured

Change = Callable[[Manifest, Secured], None]
PROVIDER = OIDCProvider(
    name="okta",
    discovery_url="https://idp.example.com/d",
    username_mapping="{{ iss }}|{{ sub }}",
    jit_provisioning=JitProvisioning(enabled=True),
)


def loaded(folder: Path, document: Manifest) -> Security:
    (folder / "config.yaml").write_text(json.dumps(document))
    return load_security(load_config(folder / "config.yaml", node=0))


def set_at(path: str, value: Any) -> Change:
    def change(document: Manifest, _: Secured) -> None:
        *parents, last = path.split(".")
        inner: Any = document["instance"]["auth"]
        for key in parents:
            inner = inner[int(key)] if isinstance(inner, list) else inner[key]
        inner[last] = value

    return change


def write(path: str, content: str) -> Change:
    return lambda _, secured: secured.write(path, content)


def remove(path: str) -> Change:
    return lambda _, secured: (secured.folder / path).unlink()


def shown_to_others(_: Manifest, secured: Secured) -> None:
    """A certificate whose key is another."""
    other = Authority(secured.folder / "other").issue("engine", Subject("engine", hosts=[HOST]))
    secured.write("/secrets/tls/engine/tls.key", other.key.read_text())


def test_given_what_the_operator_renders_then_it_is_all_understood(tmp_path: Path) -> None:
    secured = Secured.made(tmp_path, {number: ec.generate_private_key(ec.SECP384R1()) for number in (2, 1)})
    spec = an_auth_spec(token_expiry="90m", max_token_age="1d12h", clock_skew_tolerance="0s")
    security = loaded(tmp_path, secured.document(7000, spec=spec))
    assert security.tunnel is not None
    assert security.local is not None
    assert (security.local.admin, security.local.resource) == ("firebolt", RESOURCE)
    assert list(security.local.keys.by_id) == ["signing-2", "signing-1"]
    assert security.local.lifetime.total_seconds() == 5400
    assert security.local.limits.most_age.total_seconds() == 129_600
    assert security.local.limits.skew.total_seconds() == 0


def test_given_providers_then_they_are_understood(tmp_path: Path) -> None:
    oidc = OIDCSpec(jwt=OIDCJwtSpec(max_token_age="2h"), providers=[PROVIDER])
    spec = msgspec.structs.replace(an_auth_spec(), oidc=oidc, preferred_authorization_server="okta")
    (tmp_path / "config.yaml").write_text(json.dumps(Secured.made(tmp_path).document(7000, spec=spec)))
    auth = load_config(tmp_path / "config.yaml", node=0).instance.auth
    assert auth is not None
    assert auth.oidc is not None
    assert auth.oidc.jwt.max_token_age == "2h"
    assert auth.providers[0].trusted_discovery_url == "https://idp.example.com/d"
    assert auth.providers[0].jit_provisioning.default_roles == ["public"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        pytest.param(set_at("surprise", 1), "unknown field `surprise`", id="unknown-key"),
        pytest.param(set_at("admin.password_value", "x"), "unknown field", id="a-password-in-the-clear"),
        pytest.param(set_at("admin.name", ""), "length >= 1", id="empty-text"),
        pytest.param(set_at("local.signing_keys", []), "length >= 1", id="no-keys"),
        pytest.param(set_at("local.signing_algorithm", "HS256"), "Invalid enum", id="a-shared-secret"),
        pytest.param(set_at("local.jwt", {"token_expiry": "0s"}), "must be more than 0s", id="no-lifetime"),
        pytest.param(set_at("local.jwt", {"max_token_age": "1 d"}), "not a duration", id="no-duration"),
        pytest.param(set_at("preferred_authorization_server", "okta"), "neither _local nor", id="unknown-server"),
        pytest.param(
            set_at("oidc", {"providers": [{"name": "_x", "discovery_url": "https://x", "username_mapping": "x"}]}),
            "regex",
            id="a-reserved-name",
        ),
        pytest.param(
            set_at("oidc", {"providers": [{"name": "x", "discovery_url": "http://x", "username_mapping": "x"}]}),
            "regex",
            id="a-provider-in-the-clear",
        ),
        pytest.param(
            set_at("oidc", {"providers": [{"name": "x", "username_mapping": "x"}]}),
            "either discovery_url or target",
            id="a-provider-nowhere",
        ),
        pytest.param(remove("secrets/auth/admin/password"), "password_file: .*No such file", id="no-password"),
        pytest.param(write("/secrets/auth/admin/password", ""), "the password is empty", id="an-empty-password"),
        pytest.param(
            remove("secrets/auth/signing/signing-1/tls.key"), "signing-1: .*No such file", id="no-signing-key"
        ),
        pytest.param(
            write("/secrets/auth/signing/signing-1/tls.key", "x"), "signing-1: .*not a private key", id="nonsense"
        ),
        pytest.param(set_at("local.signing_algorithm", "ES256"), "not a key for ES256", id="another-curve"),
        pytest.param(set_at("local.signing_algorithm", "RS256"), "not a key for RS256", id="another-family"),
        pytest.param(remove("secrets/tls/engine/tls.key"), "tls: .*No such file", id="no-certificate-key"),
        pytest.param(write("/run/firebolt/engine-tls-bundle.crt", "x"), "tls: .*PEM", id="no-certificate"),
        pytest.param(shown_to_others, "tls: .*KEY_VALUES_MISMATCH", id="a-key-of-another-certificate"),
    ],
)
def test_given_something_it_cannot_use_then_it_refuses(tmp_path: Path, change: Change, problem: str) -> None:
    secured = Secured.made(tmp_path)
    document = secured.document(7000)
    loaded(tmp_path, document)
    change(document, secured)
    with pytest.raises(ConfigError, match=problem):
        loaded(tmp_path, document)


def test_given_an_algorithm_that_is_not_named_then_it_is_not_the_operators_default(tmp_path: Path) -> None:
    secured = Secured.made(tmp_path, {1: rsa.generate_private_key(65537, 2048)})
    document = secured.document(7000)
    del document["instance"]["auth"]["local"]["signing_algorithm"]
    security = loaded(tmp_path, document)
    assert security.local is not None
    assert security.local.keys.algorithm == "RS256"


def test_given_a_refusal_then_the_program_says_so_without_the_secret(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secured = Secured.made(tmp_path)
    document = secured.document(7000)
    secured.write("/secrets/auth/signing/signing-1/tls.key", "-----BEGIN PRIVATE KEY-----\nTOPSECRET\n")
    (tmp_path / "config.yaml").write_text(json.dumps(document))
    assert main(["server", "--node", "0", "--data-dir", str(tmp_path)]) == EXIT_CONFIG
    said = capsys.readouterr().err
    assert "configuration refused" in said
    assert "signing-1" in said
    assert "TOPSECRET" not in said
