"""Through which proxy is the API server reached? The kubeconfig says it, or the environment."""

from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.kube.identity import basic

_PORTS: Final = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    url: str  # without user and password
    authorization: str = ""  # value of the Proxy-Authorization header; empty for none


def proxy_of(server: str, env: Mapping[str, str]) -> Proxy | None:
    """HTTPS_PROXY or HTTP_PROXY, by the scheme of the server, unless NO_PROXY names it."""
    parts = urlsplit(server)
    name = f"{parts.scheme.upper()}_PROXY"
    address = _variable(env, name)
    host, port = (parts.hostname or "").rstrip("."), parts.port or _PORTS.get(parts.scheme, 0)
    if not address or _is_direct(host, port, _variable(env, "NO_PROXY")):
        return None
    return parse_proxy(name, address if "://" in address else f"http://{address}")


def parse_proxy(source: str, address: str) -> Proxy:
    """The address is not part of any error: it may hold a password."""
    try:
        parts = urlsplit(address)
        port = parts.port or _PORTS["http"]
    except ValueError as err:
        raise ConfigurationError(f"{source}: not the address of a proxy") from err
    if parts.scheme != "http" or not parts.hostname:
        raise ConfigurationError(f"{source}: only http:// proxies are supported, not {parts.scheme or 'this'!r}")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    authorization = basic(unquote(parts.username), unquote(parts.password or "")) if parts.username else ""
    return Proxy(url=urlunsplit(("http", f"{host}:{port}", "", "", "")), authorization=authorization)


def _variable(env: Mapping[str, str], name: str) -> str:
    return env.get(name) or env.get(name.lower()) or ""


def _is_direct(host: str, port: int, exceptions: str) -> bool:
    address = _address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    entries = (entry.strip().lower() for entry in exceptions.split(","))
    return any(_matches(entry, host, port, address) for entry in entries if entry)


def _matches(entry: str, host: str, port: int, address: IPv4Address | IPv6Address | None) -> bool:
    if entry == "*":
        return True
    if address is not None and "/" in entry:
        try:
            return address in ip_network(entry, strict=False)
        except ValueError:
            return False
    name, wanted_port = _split_port(entry)
    if wanted_port not in {None, port}:
        return False
    if address is not None:
        return _address(name) == address
    name = name.removeprefix("*")
    return host.endswith(name) if name.startswith(".") else host == name or host.endswith(f".{name}")


def _split_port(entry: str) -> tuple[str, int | None]:
    name, colon, port = entry.rpartition(":")
    if colon and port.isdecimal() and (":" not in name or name.startswith("[")):
        return name.strip("[]"), int(port)
    return entry.strip("[]"), None


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
