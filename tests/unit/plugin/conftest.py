"""The plugin with a kubectl that plays, in this process."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.plugin import PluginHere, played_kubectl

Played = Callable[..., PluginHere]


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Played:
    """`played(("get", "exit 1"), namespace="ns")`: the rules of the kubectl that it runs."""

    def make(*rules: tuple[str, str], namespace: str = "", **environment: str) -> PluginHere:
        kubectl = played_kubectl(tmp_path, *rules)
        return PluginHere(kubectl, namespace, environment, patch=monkeypatch, captured=capfd)

    return make
