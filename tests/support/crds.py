"""Our three kinds on a test's API server."""

from pathlib import Path

from firebolt_operator.api.crds import KINDS, crd_documents
from tests.support.kubectl import kubectl


def install_crds(kubeconfig: Path) -> None:
    """Returns when objects of all three kinds can be made; doing it twice is harmless."""
    kubectl(kubeconfig, ["apply", "--server-side", "--force-conflicts", "-f", "-"], stdin=crd_documents())
    names = [f"crd/{kind.resource.plural}.{kind.resource.group}" for kind in KINDS]
    kubectl(kubeconfig, ["wait", "--for=condition=Established", "--timeout=30s", *names])
