"""Does cert-manager say what it lacks, before anything is asked of a cluster?"""

import ssl
from pathlib import Path

import pytest

from firebolt_local.cluster.cert_manager import CertManager
from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.errors import LocalError


def test_given_a_program_without_its_kinds_then_it_says_where_they_belong(tmp_path: Path) -> None:
    """As when somebody names a folder of programs of their own."""
    nobody = KubeHttp("https://127.0.0.1:1", ssl.create_default_context())
    manager = CertManager(
        http=nobody, kubeconfig=tmp_path / "kubeconfig", program=tmp_path / "cert-manager", folder=tmp_path
    )
    with pytest.raises(LocalError, match="put cert-manager's deploy/crds there"):
        manager.start()
