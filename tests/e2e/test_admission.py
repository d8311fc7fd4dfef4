"""What does a person see who writes to a cluster with the operator on it, as `helm install` leaves it?"""

import asyncio
import secrets
import time
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from firebolt_local.testing.installer import Installer
from tests.e2e.console_page import Page, said
from tests.e2e.environment import Environment
from tests.e2e.knocking import knocking
from tests.e2e.webhook_objects import (
    CONFIGURATIONS,
    a_foreign_authority,
    break_bundle,
    bundles,
    certificate,
    delete_secret,
)

pytestmark = pytest.mark.quick

PAGE = "admission.md"
REPAIRED_SECONDS = 5.0


@pytest.fixture
async def namespace(environment: Environment) -> AsyncGenerator[str]:
    """It goes by itself, as soon as its classes may."""
    name = f"admission-{secrets.token_hex(3)}"
    await asyncio.to_thread(environment.make_namespace, name)
    yield name
    await asyncio.to_thread(environment.kubectl, "delete", "namespace", name, "--wait=false")


async def test_given_default_values_when_the_page_is_followed_then_kubectl_says_what_it_shows(
    environment: Environment, namespace: str, tmp_path: Path
) -> None:
    page, installer = Page.read(PAGE), Installer.for_cluster(environment.cluster)
    for name, body in page.files().items():
        (tmp_path / name).write_text(body)
    options = [f"--kubeconfig={environment.cluster.kubeconfig}", f"--namespace={namespace}"]
    told = [
        (
            step.command,
            await asyncio.to_thread(said, step.command, program=installer.kubectl, options=options, folder=tmp_path),
        )
        for step in page.steps()
    ]
    shown = [(step.command, step.shown) for step in page.steps()]
    assert [(command, words.replace(namespace, "default")) for command, words in told] == shown


@pytest.mark.parametrize("kind", CONFIGURATIONS)
@pytest.mark.parametrize("bundle", [b"", a_foreign_authority()], ids=["emptied", "of-somebody-else"])
async def test_given_a_bundle_broken_by_hand_then_it_is_right_again_within_five_seconds(
    environment: Environment, capsys: pytest.CaptureFixture[str], kind: str, bundle: bytes
) -> None:
    (good,) = set(bundles(environment))
    began_at = time.monotonic()
    break_bundle(environment, kind, bundle)
    while set(bundles(environment)) != {good}:
        assert time.monotonic() - began_at < REPAIRED_SECONDS, "nobody repairs the bundle"
        await asyncio.sleep(0.02)
    with capsys.disabled():
        print(f"\n{kind}: right again after {time.monotonic() - began_at:.2f} s", end="")
    async with knocking(environment) as door:
        await door.until(is_let_in=True)


async def test_given_the_secret_deleted_then_another_certificate_is_made_and_no_write_is_refused(
    environment: Environment, capsys: pytest.CaptureFixture[str]
) -> None:
    before = certificate(environment)
    async with knocking(environment) as door:
        await door.until(is_let_in=True)
        delete_secret(environment)
        async with asyncio.timeout(60):
            while certificate(environment) in {before, ""}:  # noqa: ASYNC110 - polls
                await asyncio.sleep(0.1)
        for _ in range(20):
            await door.until(is_let_in=True)
    with capsys.disabled():
        print(f"\n{door}", end="")
    assert door.problems == []
