"""Are images what the operator expects of them, and honest about what they are?"""

import re
import tomllib
from pathlib import Path

import pytest

from firebolt_local.errors import LocalError
from firebolt_local.images import envoy_image, labels, operator_image, postgres_image, standin_images
from firebolt_local.images.python_packages import beyond, locked
from firebolt_operator.engine.render.containers import START_SCRIPT
from firebolt_operator.gateway.hardening import AGENT_USER
from firebolt_operator.manifests.releases import Age, age
from firebolt_operator.version import SOURCE_TREE

REPOSITORY = Path(__file__).parents[4]
DOCKERFILE = (REPOSITORY / "Dockerfile").read_text()


def test_the_dockerfile_and_our_own_build_agree() -> None:
    assert f'ENTRYPOINT ["{operator_image.ENTRYPOINT}"]' in DOCKERFILE
    assert f"USER {operator_image.USER}:{operator_image.USER}" in DOCKERFILE
    assert f"--require-hashes --no-deps --target /packages -r /requirements/{operator_image.REQUIREMENTS}" in DOCKERFILE
    copied = re.findall(r"^COPY (src/\S+)", DOCKERFILE, re.MULTILINE)
    assert copied == ["src/firebolt_operator", str(operator_image.START.relative_to(REPOSITORY))]
    assert all((REPOSITORY / path).exists() for path in copied)


def test_the_dockerfile_uses_the_oldest_python_that_the_project_supports() -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    oldest = project["requires-python"].removeprefix(">=")
    assert set(re.findall(r"python:?(3\.\d+)", DOCKERFILE)) == {oldest}
    assert project["version"] == SOURCE_TREE


def test_the_wake_agent_runs_as_the_user_of_the_image() -> None:
    assert operator_image.USER == AGENT_USER


def test_the_stand_in_engine_is_where_the_operator_starts_it() -> None:
    assert f"exec {standin_images.ENGINE_PROGRAM.path} server" in START_SCRIPT


def test_images_have_the_names_that_the_operator_renders() -> None:
    references = [standin_images.ENGINE, standin_images.METADATA, postgres_image.REFERENCE, envoy_image.ENVOY]
    assert all(":" in reference for reference in references)
    assert standin_images.ENGINE_NEXT != standin_images.ENGINE


@pytest.mark.parametrize(
    ("program", "reference"),
    [
        (standin_images.ENGINE_PROGRAM, standin_images.ENGINE),
        (standin_images.METADATA_PROGRAM, standin_images.METADATA),
        (standin_images.UI_PROGRAM, standin_images.UI),
    ],
)
def test_a_stand_in_says_what_it_is(program: standin_images.Program, reference: str) -> None:
    image = standin_images.standin_image(program, reference, [])
    assert image.labels[labels.STAND_IN] == "true"
    assert "Not Firebolt's software" in image.labels["org.opencontainers.image.description"]
    assert image.entrypoint == [program.path]


def test_the_next_engine_is_another_image() -> None:
    references = (standin_images.ENGINE, standin_images.ENGINE_NEXT)
    engine, following = (
        standin_images.standin_image(standin_images.ENGINE_PROGRAM, reference, []) for reference in references
    )
    assert engine.labels != following.labels


def test_a_lock_file_is_read_package_by_package_with_its_hashes() -> None:
    packages = locked("run.txt")
    assert {"aiohttp", "msgspec", "uvloop"} <= set(packages)
    assert all(block.startswith(f"{name}==") and "--hash=sha256:" in block for name, block in packages.items())
    assert "".join(packages.values()) == (REPOSITORY / "requirements/run.txt").read_text()


def test_stand_ins_add_to_the_packages_of_the_operator() -> None:
    added = beyond(locked("standins.txt"), locked("run.txt"))
    assert {"duckdb", "pg8000"} <= set(added)
    assert "aiohttp" not in added


def test_lock_files_that_disagree_are_refused() -> None:
    with pytest.raises(LocalError, match="disagree about a;"):
        beyond({"a": "a==1", "b": "b==1"}, {"a": "a==2"})


def test_the_old_and_the_new_release_are_on_their_sides_of_the_floor() -> None:
    assert age(standin_images.of_release(standin_images.ENGINE, standin_images.OLD_TAG)) is Age.OLD
    assert age(standin_images.of_release(standin_images.METADATA, standin_images.NEW_TAG)) is Age.NEW


def test_images_of_a_release_say_which_one_they_play() -> None:
    images = standin_images.releases(standin_images.ENGINE_PROGRAM, "host/engine:1", [])
    assert {image.reference: dict(image.environment) for image in images} == {
        f"host/engine:{standin_images.OLD_TAG}": {"FIREBOLT_STANDIN_RELEASE": "old"},
        f"host/engine:{standin_images.NEW_TAG}": {"FIREBOLT_STANDIN_RELEASE": "new"},
    }
