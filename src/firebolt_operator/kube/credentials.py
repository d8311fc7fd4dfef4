"""Which API server, and as whom? Flag, KUBECONFIG, the pod's ServiceAccount or the home directory, in this order."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.identity import Identity, TokenFile
from firebolt_operator.kube.proxies import Proxy, proxy_of
from firebolt_operator.kube.tls import ClientTls, Trust

SERVICE_ACCOUNT: Final = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    server: str  # base address, without a trailing slash
    identity: Identity
    server_name: str | None = None  # the name in the server's certificate, if it is not the one in the address
    proxy: Proxy | None = None  # None means directly
    namespace: str = "default"  # where we are, or what the kubeconfig's context says
    source: str  # where all this was found, for people


def load_credentials(
    kubeconfig: str, env: Mapping[str, str], *, service_account: Path = SERVICE_ACCOUNT
) -> Credentials:
    """An empty kubeconfig means that none was asked for."""
    chosen = [kubeconfig] if kubeconfig else env.get("KUBECONFIG", "").split(":")
    paths = [Path(path) for path in chosen if path]
    if paths:
        return _from_kubeconfig(paths, env)
    if _is_in_cluster(env, service_account):
        return in_cluster(env, service_account)
    home_config = Path(env["HOME"], ".kube", "config") if env.get("HOME") else None
    if home_config is not None and home_config.is_file():
        return _from_kubeconfig([home_config], env)
    raise ConfigurationError(
        "no way to the API server: no kubeconfig was named, KUBECONFIG is not set, there is no ServiceAccount at "
        f"{service_account} with KUBERNETES_SERVICE_HOST set, and no {home_config or '.kube/config (HOME is not set)'}"
    )


def _is_in_cluster(env: Mapping[str, str], service_account: Path) -> bool:
    return bool(env.get("KUBERNETES_SERVICE_HOST")) and (service_account / "token").is_file()


def in_cluster(env: Mapping[str, str], service_account: Path = SERVICE_ACCOUNT) -> Credentials:
    """Reads only: a pod's root file system may be read-only."""
    host, port = env["KUBERNETES_SERVICE_HOST"], env.get("KUBERNETES_SERVICE_PORT", "443")
    try:
        authorities = service_account / "ca.crt"
        trust = Trust(authorities=authorities.read_text(), source=authorities)
        namespace = (service_account / "namespace").read_text().strip()
    except OSError as err:
        raise ConfigurationError(f"the ServiceAccount at {service_account} is incomplete: {err}") from err
    server = f"https://[{host}]:{port}" if ":" in host else f"https://{host}:{port}"
    return Credentials(
        server=server,
        identity=TokenFile(service_account / "token", ClientTls(trust)),
        proxy=proxy_of(server, env),
        namespace=namespace,
        source=f"ServiceAccount at {service_account}",
    )


def _from_kubeconfig(paths: list[Path], env: Mapping[str, str]) -> Credentials:
    # Only here: inside a pod nobody needs the kubeconfig parser, and it costs 5 MB.
    from firebolt_operator.kube.kubeconfig import load_kubeconfig  # noqa: PLC0415

    return load_kubeconfig(paths, env)
