"""Which cluster does the user's own kubeconfig name, and is it there?"""

import base64
import binascii
import os
import ssl
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from firebolt_local.cluster.kube_http import KubeHttp
from firebolt_local.errors import LocalError
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class ExistingCluster:
    kubeconfig: Path
    http: KubeHttp  # without credentials: enough to ask whether it is there

    @property
    def server(self) -> str:
        return self.http.server


def user_kubeconfig() -> Path:
    candidates = os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")
    for candidate in filter(None, candidates.split(os.pathsep)):
        if Path(candidate).exists():
            return Path(candidate).absolute()
    raise LocalError(f"there is no kubeconfig at {candidates}; set KUBECONFIG to one")


def read_existing(path: Path) -> ExistingCluster:
    cluster = _current_cluster(path)
    server = str(cluster.get("server", ""))
    if urlsplit(server).scheme != "https":
        raise LocalError(f"{path} names the server {server!r}; only https:// is supported")
    return ExistingCluster(path, KubeHttp(server.rstrip("/"), _trust(path, cluster)))


def check_existing(cluster: ExistingCluster) -> None:
    try:
        cluster.http.text("GET", "/readyz")
    except OSError as err:
        raise LocalError(
            f"{cluster.server} of {cluster.kubeconfig} does not answer ({err}); start it, or set KUBECONFIG"
        ) from err


def _current_cluster(path: Path) -> Manifest:
    try:
        config = yaml.safe_load(path.read_text())
        current = config["current-context"]
        context = next(entry["context"] for entry in config["contexts"] if entry["name"] == current)
        cluster: Manifest = next(c["cluster"] for c in config["clusters"] if c["name"] == context["cluster"])
    except OSError as err:
        raise LocalError(f"{path} cannot be read ({err.strerror}); set KUBECONFIG to a file that can") from err
    except (yaml.YAMLError, UnicodeDecodeError) as err:
        raise LocalError(f"{path} is not YAML; set KUBECONFIG to a kubeconfig") from err
    except (KeyError, TypeError, StopIteration) as err:
        raise LocalError(f"{path} names no current cluster; choose one with kubectl config use-context") from err
    return cluster


def _trust(path: Path, cluster: Manifest) -> ssl.SSLContext:
    if cluster.get("insecure-skip-tls-verify"):
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        if data := cluster.get("certificate-authority-data"):
            return ssl.create_default_context(cadata=base64.b64decode(data).decode())
        if file := cluster.get("certificate-authority"):
            return ssl.create_default_context(cafile=str(path.parent / file))
    except (OSError, ValueError, binascii.Error) as err:
        raise LocalError(f"the certificate authority in {path} cannot be read ({err}); fetch a new kubeconfig") from err
    return ssl.create_default_context()
