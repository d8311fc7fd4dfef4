"""What does a kubeconfig file, or a list of them, say about the server and about us?"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec
import yaml

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.exec_plugin import SUPPORTED_VERSIONS, ExecCommand, ExecPlugin
from firebolt_operator.kube.identity import FixedIdentity, Identity, TokenFile, basic, bearer
from firebolt_operator.kube.kubeconfig_entries import Cluster, Context, Plugin, User
from firebolt_operator.kube.proxies import Proxy, parse_proxy, proxy_of
from firebolt_operator.kube.tls import ClientTls, Trust
from firebolt_operator.refs import Manifest

DEFAULT_NAMESPACE: Final = "default"
_FILE_FIELDS: Final = ("certificate-authority", "client-certificate", "client-key", "tokenFile")
_SECTIONS: Final = {"clusters": "cluster", "contexts": "context", "users": "user"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Chosen:
    """What the current context leads to."""

    context_name: str
    context: Context
    cluster: Cluster
    user: User


def load_kubeconfig(paths: Iterable[Path], env: Mapping[str, str]) -> Credentials:
    """Of several files the first that names an entry wins, as with kubectl."""
    paths = list(paths)
    paths = [path for path in paths if path.exists()] or paths
    where = ", ".join(str(path) for path in paths)
    try:
        chosen = _choose(_merged([_read(path) for path in paths]))
        return _credentials(chosen, env, where)
    except (ConfigurationError, KeyError, msgspec.ValidationError, OSError, binascii.Error) as err:
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
    """Files named in a kubeconfig are relative to it. What is null is not said."""
    files = {key: str(folder / entry[key]) for key in _FILE_FIELDS if entry.get(key)}
    plugin = entry.get("exec")
    if plugin and "/" in plugin.get("command", ""):
        plugin = {**plugin, "command": str(folder / plugin["command"])}
    said = {**entry, **files, **({"exec": plugin} if plugin else {})}
    return {key: value for key, value in said.items() if value is not None}


def _merged(contents: list[Manifest]) -> Manifest:
    merged: Manifest = {section: list[Manifest]() for section in _SECTIONS}
    for content in contents:
        if content.get("current-context"):
            merged.setdefault("current-context", content["current-context"])
        for section in _SECTIONS:
            known = {entry["name"] for entry in merged[section]}
            merged[section] += [entry for entry in content[section] if entry["name"] not in known]
    return merged


def _choose(merged: Manifest) -> _Chosen:
    name = merged.get("current-context")
    if not name:
        raise ConfigurationError("no current-context is set")
    context = msgspec.convert(_entry(merged, "contexts", name), Context)
    cluster = msgspec.convert(_entry(merged, "clusters", context.cluster), Cluster)
    if not cluster.server:
        raise ConfigurationError("the current context names no server")
    user = _entry(merged, "users", context.user) if context.user else {}
    return _Chosen(context_name=name, context=context, cluster=cluster, user=msgspec.convert(user, User))


def _entry(merged: Manifest, section: str, name: str) -> Manifest:
    kind = _SECTIONS[section]
    entries: dict[str, Manifest] = {entry["name"]: entry[kind] for entry in merged[section]}
    if name not in entries:
        raise ConfigurationError(f"{kind} {name!r} not found")
    return entries[name]


def _credentials(chosen: _Chosen, env: Mapping[str, str], where: str) -> Credentials:
    server = chosen.cluster.server.rstrip("/")
    return Credentials(
        server=server,
        server_name=chosen.cluster.tls_server_name or None,
        identity=_identity(chosen, env),
        proxy=_proxy(server, chosen.cluster.proxy_url, env),
        namespace=chosen.context.namespace or DEFAULT_NAMESPACE,
        source=f"context {chosen.context_name!r} of {where}",
    )


def _proxy(server: str, named: str | None, env: Mapping[str, str]) -> Proxy | None:
    """Named for this very cluster, it is taken whatever the environment exempts."""
    return parse_proxy("proxy-url", named) if named else proxy_of(server, env)


def _identity(chosen: _Chosen, env: Mapping[str, str]) -> Identity:
    trust, user = _trust(chosen.cluster), chosen.user
    if user.unsupported():
        raise ConfigurationError(f"user {chosen.context.user!r}: {user.unsupported()} is not supported")
    if user.exec is not None:
        return ExecPlugin(_exec_command(user.exec, chosen.cluster, trust, env), trust)
    tls = ClientTls(trust, _client_certificate(user))
    if user.token_file:
        return TokenFile(Path(user.token_file), tls)
    if user.token:
        return FixedIdentity(bearer(user.token), tls)
    if user.username:
        return FixedIdentity(basic(user.username, user.password), tls)
    return FixedIdentity("", tls)


def _trust(cluster: Cluster) -> Trust:
    data = _content(cluster.certificate_authority_data, cluster.certificate_authority)
    is_file = bool(cluster.certificate_authority) and not cluster.certificate_authority_data
    return Trust(
        authorities=data.decode() if data else None,
        is_insecure=cluster.insecure_skip_tls_verify,
        source=Path(cluster.certificate_authority) if is_file else None,
    )


def _client_certificate(user: User) -> bytes | None:
    chain = _content(user.client_certificate_data, user.client_certificate)
    key = _content(user.client_key_data, user.client_key)
    if (chain is None) != (key is None):
        raise ConfigurationError("client-certificate and client-key belong together, and one is missing")
    if chain is None or key is None:
        return None
    return chain + b"\n" + key


def _content(data: str, path: str) -> bytes | None:
    if data:
        return base64.b64decode("".join(data.split()), validate=True)
    return Path(path).read_bytes() if path else None


def _exec_command(plugin: Plugin, cluster: Cluster, trust: Trust, env: Mapping[str, str]) -> ExecCommand:
    if plugin.api_version not in SUPPORTED_VERSIONS:
        raise ConfigurationError(f"exec plugin {plugin.command!r}: {plugin.api_version} is not supported")
    if plugin.interactive_mode == "Always":
        raise ConfigurationError(f"exec plugin {plugin.command!r} wants to talk to a person, and nobody is there")
    added = {each.name: each.value for each in plugin.env or []}
    return ExecCommand(
        api_version=plugin.api_version,
        argv=(plugin.command, *(plugin.args or [])),
        env={**env, **added},
        install_hint=(plugin.install_hint or "").strip(),
        cluster=_cluster_info(cluster, trust) if plugin.provide_cluster_info else None,
    )


def _cluster_info(cluster: Cluster, trust: Trust) -> Mapping[str, Any]:
    extensions = {each.name: each.extension for each in cluster.extensions or []}
    authorities = base64.b64encode(trust.authorities.encode()).decode() if trust.authorities else None
    info = {
        "server": cluster.server,
        "tls-server-name": cluster.tls_server_name,
        "proxy-url": cluster.proxy_url,
        "insecure-skip-tls-verify": trust.is_insecure or None,
        "certificate-authority-data": authorities,
        "config": extensions.get("client.authentication.k8s.io/exec"),
    }
    return {key: value for key, value in info.items() if value is not None}
