"""The engine container, and the script it starts with."""

import subprocess
from pathlib import Path

import pytest

from firebolt_operator.engine.render.containers import START_SCRIPT, engine_container, hardened_security_context
from firebolt_operator.engine.render.template import effective_template
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import IMAGES, engine_inputs, with_template


def container(own: Manifest | None = None, inherited: Manifest | None = None) -> Manifest:
    inputs = engine_inputs(
        None if own is None else with_template(engine=own),
        None if inherited is None else with_template(engine=inherited),
    )
    return engine_container(inputs, effective_template(inputs))


@pytest.mark.parametrize(
    ("own", "inherited", "image", "policy"),
    [
        pytest.param(None, None, IMAGES.engine, "IfNotPresent", id="default"),
        pytest.param(None, {"image": "c:dev"}, "c:dev", "Always", id="class"),
        pytest.param({"image": "e:1"}, {"image": "c:dev"}, "e:1", "IfNotPresent", id="engine-over-class"),
        pytest.param(
            {"image": "e:1"}, {"image": "c:1", "imagePullPolicy": "Never"}, "e:1", "Never", id="policy-is-independent"
        ),
        pytest.param({"imagePullPolicy": "Always"}, None, IMAGES.engine, "Always", id="policy-alone"),
    ],
)
def test_given_images_then_engine_beats_class_beats_default(
    own: Manifest | None, inherited: Manifest | None, image: str, policy: str
) -> None:
    rendered = container(own, inherited)
    assert (rendered["image"], rendered["imagePullPolicy"]) == (image, policy)


def test_given_a_partial_security_context_then_it_gets_no_defaults() -> None:
    assert container()["securityContext"] == hardened_security_context()
    assert container({"securityContext": {"runAsUser": 5}})["securityContext"] == {"runAsUser": 5}
    assert container({"securityContext": {}})["securityContext"] == {}
    assert container(None, {"securityContext": {"runAsUser": 5}})["securityContext"] == {"runAsUser": 5}


def test_given_env_in_both_layers_then_the_operators_entries_come_first() -> None:
    rendered = container({"env": [{"name": "B"}]}, {"env": [{"name": "A"}]})
    assert [each["name"] for each in rendered["env"]] == ["POD_INDEX", "FB_AWS_EC2_METADATA_CLIENT_ENABLED", "A", "B"]


def test_given_resources_then_they_are_taken_whole() -> None:
    inherited = {"resources": {"requests": {"cpu": "1"}, "limits": {"cpu": "2"}}}
    assert container({"resources": {"limits": {"cpu": "3"}}}, inherited)["resources"] == {"limits": {"cpu": "3"}}
    assert container({"resources": {}}, inherited)["resources"] == inherited["resources"]
    assert "resources" not in container()


class Host:
    """A folder that stands in for the container's root: the script's absolute paths are moved under it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.secrets, self.run = root / "secrets/tls/engine", root / "run/firebolt"
        engine = root / "opt/firebolt/firebolt"
        for folder in (self.secrets, self.run, engine.parent):
            folder.mkdir(parents=True)
        engine.write_text('#!/bin/bash\necho "$@"\n')
        engine.chmod(0o755)

    def start(self, **environment: str) -> str:
        script = START_SCRIPT
        for path in ("/secrets", "/run/firebolt", "/opt/firebolt"):
            script = script.replace(path, f"{self.root}{path}")
        done = subprocess.run(["/bin/bash", "-c", script], env=environment, capture_output=True, text=True, check=True)
        return done.stdout.strip()


@pytest.mark.parametrize(
    ("environment", "node"),
    [
        ({"POD_INDEX": "4", "HOSTNAME": "sales-g2-9"}, "4"),
        ({"POD_INDEX": "", "HOSTNAME": "sales-g2-9"}, "9"),
        ({"HOSTNAME": "sales-g2-11"}, "11"),
    ],
)
def test_given_a_pod_when_it_starts_then_it_knows_its_node(
    tmp_path: Path, environment: dict[str, str], node: str
) -> None:
    assert Host(tmp_path).start(**environment) == f"server --node {node} --data-dir /var/lib/firebolt"


@pytest.mark.parametrize(
    ("files", "bundle"), [(("tls.crt", "ca.crt"), "leaf\nauthority\n"), (("tls.crt",), None), ((), None)]
)
def test_given_certificates_when_it_starts_then_both_files_make_a_bundle(
    tmp_path: Path, files: tuple[str, ...], bundle: str | None
) -> None:
    host = Host(tmp_path)
    contents = {"tls.crt": "leaf\n", "ca.crt": "authority\n"}
    for name in files:
        (host.secrets / name).write_text(contents[name])
    host.start(POD_INDEX="0")
    written = host.run / "engine-tls-bundle.crt"
    assert (written.read_text() if written.exists() else None) == bundle
