"""What does a kubeconfig file, or a list of them, say about the server and about us?

lightkube parses and selects the context; the fields it does not know are read from the same text.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml
from lightkube.config.kubeconfig import KubeConfig, SingleConfig
from lightkube.config.models import Cluster, User
from lightkube.core.exceptions import ConfigError

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.exec_plugin import SUPPORTED_VERSIONS, ExecCommand, ExecPlugin
from firebolt_operator.kube.identity import FixedIdentity, Identity, TokenFile, basic, bearer
from firebolt_operator.kube.proxies import Proxy, parse_proxy, proxy_of
from firebolt_operator.kube.tls import ClientTls, Trust
from firebolt_operator.refs import Manifest

_FILE_FIELDS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_SECTIONS: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}


def load_kubeconfig(paths: Iterable[Path], env: Mapping[str, str]) -> Credentials:
    """Of several files the first that names an entry wins, as with kubectl."""
    paths = list(paths)
    paths = [path for path in paths if path.exists()] or paths
    where = ", ".join(str(path) for path in paths)
    try:
        merged = _merged([_read(path) for path in paths])
        chosen = KubeConfig.from_dict(merged).get()
        if chosen is None or not chosen.cluster.server:
            raise ConfigurationError("the current context names no server")  # noqa: TRY301
        return _credentials(chosen, merged, env, where)
    except (ConfigurationError, ConfigError, KeyError, msgspec.ValidationError, OSError, binascii.Error) as err:
        raise ConfigurationError(f"kubeconfig {where}: {err}") from err


def _read(path: Path) -> Manifest:
    try:
        content = yaml.safe_load(path.read_text())
    except yaml.YAMLError as err:
        raise ConfigurationError(f"not YAML: {err}") from err
    if not isinstance(content, dict):
        raise ConfigurationError("empty, or not a kubeconfig")
    for section, inner in _SECTIONS.items():
        content[section] = [
            {"name": entry["name"], inner: _anchored(entry.get(inner) or {}, path.parent)}
            for entry in content.get(section) or []
        ]
    return content


def _anchored(entry: Manifest, folder: Path) -> Manifest:
    """Files named in a kubeconfig are relative to it."""
    files = {key: str(folder / entry[key]) for key in _FILE_FIELDS if entry.get(key)}
    plugin = entry.get("exec")
    if plugin and "/" in plugin.get("command", ""):
        plugin = {**plugin, "command": str(folder / plugin["command"])}
    return {**entry, **files, **({"exec": plugin} if plugin else {})}


def _merged(contents: list[Manifest]) -> Manifest:
    merged: Manifest = {section: list[Manifest]() for section in _SECTIONS}
    for content in contents:
        if content.get("current-context"):
            merged.setdefault("current-context", content["current-context"])
        for section in _SECTIONS:
            known = {entry["name"] for entry in merged[section]}
            merged[section] += [entry for entry in content[section] if entry["name"] not in known]
    return merged


def _credentials(chosen: SingleConfig, merged: Manifest, env: Mapping[str, str], where: str) -> Credentials:
    raw_cluster = _entry(merged, "clusters", chosen.context.cluster)
    raw_user = _entry(merged, "users", chosen.context.user) if chosen.context.user else {}
    server = chosen.cluster.server.rstrip("/")
    return Credentials(
        server=server,
        server_name=raw_cluster.get("tls-server-name") or None,
        identity=_identity(chosen, raw_cluster, raw_user, env),
        proxy=_proxy(server, raw_cluster, env),
        namespace=chosen.namespace,
        source=f"context {chosen.context_name!r} of {where}",
    )


def _proxy(server: str, raw_cluster: Manifest, env: Mapping[str, str]) -> Proxy | None:
    """Named for this very cluster, it is taken whatever the environment exempts."""
    named = raw_cluster.get("proxy-url")
    return parse_proxy("proxy-url", named) if named else proxy_of(server, env)


def _entry(merged: Manifest, section: str, name: str) -> Manifest:
    entries: dict[str, Manifest] = {entry["name"]: entry[_SECTIONS[section]] for entry in merged[section]}
    return entries[name]


def _identity(chosen: SingleConfig, raw_cluster: Manifest, raw_user: Manifest, env: Mapping[str, str]) -> Identity:
    trust = _trust(chosen.cluster)
    user = chosen.user or User()
    for unsupported in ("auth-provider", "as", "as-uid", "as-groups"):
        if raw_user.get(unsupported):
            raise ConfigurationError(f"user {chosen.context.user!r}: {unsupported} is not supported")
    if user.exec is not None:
        return ExecPlugin(_exec_command(raw_user["exec"], raw_cluster, trust, env), trust)
    tls = ClientTls(trust, _client_certificate(user))
    if user.token_file:
        return TokenFile(Path(user.token_file), tls)
    if user.token:
        return FixedIdentity(bearer(user.token), tls)
    if user.username:
        return FixedIdentity(basic(user.username, user.password or ""), tls)
    return FixedIdentity("", tls)


def _trust(cluster: Cluster) -> Trust:
    data = _content(cluster.certificate_auth_data, cluster.certificate_auth)
    is_file = bool(cluster.certificate_auth) and not cluster.certificate_auth_data
    return Trust(
        authorities=data.decode() if data else None,
        is_insecure=cluster.insecure,
        source=Path(cluster.certificate_auth or "") if is_file else None,
    )


def _client_certificate(user: User) -> bytes | None:
    chain = _content(user.client_cert_data, user.client_cert)
    key = _content(user.client_key_data, user.client_key)
    if (chain is None) != (key is None):
        raise ConfigurationError("client-certificate and client-key belong together, and one is missing")
    if chain is None or key is None:
        return None
    return chain + b"\n" + key


def _content(data: str | None, path: str | None) -> bytes | None:
    if data:
        return base64.b64decode("".join(data.split()), validate=True)
    return Path(path).read_bytes() if path else None


def _exec_command(plugin: Manifest, raw_cluster: Manifest, trust: Trust, env: Mapping[str, str]) -> ExecCommand:
    if plugin["apiVersion"] not in SUPPORTED_VERSIONS:
        raise ConfigurationError(f"exec plugin {plugin['command']!r}: {plugin['apiVersion']} is not supported")
    if plugin.get("interactiveMode") == "Always":
        raise ConfigurationError(f"exec plugin {plugin['command']!r} wants to talk to a person, and nobody is there")
    added = {entry["name"]: entry["value"] for entry in plugin.get("env") or []}
    return ExecCommand(
        api_version=plugin["apiVersion"],
        argv=(plugin["command"], *(plugin.get("args") or [])),
        env={**env, **added},
        install_hint=(plugin.get("installHint") or "").strip(),
        cluster=_cluster_info(raw_cluster, trust) if plugin.get("provideClusterInfo") else None,
    )


def _cluster_info(raw: Manifest, trust: Trust) -> Mapping[str, Any]:
    extensions = {entry["name"]: entry["extension"] for entry in raw.get("extensions") or []}
    authorities = base64.b64encode(trust.authorities.encode()).decode() if trust.authorities else None
    info = {
        "server": raw.get("server"),
        "tls-server-name": raw.get("tls-server-name"),
        "proxy-url": raw.get("proxy-url"),
        "insecure-skip-tls-verify": trust.is_insecure or None,
        "certificate-authority-data": authorities,
        "config": extensions.get("client.authentication.k8s.io/exec"),
    }
    return {key: value for key, value in info.items() if value is not None}
