"""What does an engine read of its secrets? All of it when it starts, and nothing ever again."""

import ssl
from dataclasses import dataclass

from firebolt_local.standins.engine.auth.local_server import LocalServer, load_local_server
from firebolt_local.standins.engine.config import Config, Tls
from firebolt_local.standins.strict_files import ConfigError


@dataclass(frozen=True, slots=True)
class Tunnel:
    """Both ends of TLS: what is shown to those who come, and what is believed of the other nodes."""

    listener: ssl.SSLContext
    peers: ssl.SSLContext


@dataclass(frozen=True, slots=True)
class Security:
    tunnel: Tunnel | None = None
    local: LocalServer | None = None  # none: everybody is let in


def load_security(config: Config) -> Security:
    auth, tls = config.instance.auth, config.query_listener.tls
    return Security(
        tunnel=None if tls is None else _tunnel(tls),
        local=load_local_server(auth, config.instance.id) if auth is not None and auth.enabled else None,
    )


def _tunnel(tls: Tls) -> Tunnel:
    """One file is the chain that is served and the CAs that are believed: with the leaf alone nobody is believed."""
    listener = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    listener.minimum_version = ssl.TLSVersion.TLSv1_2
    where = "endpoints.http.listeners[0].tls"
    try:
        listener.load_cert_chain(tls.certificate_file, tls.private_key_file)
    except ssl.SSLError as err:
        raise ConfigError(f"{where}: {tls.certificate_file}, {tls.private_key_file}: {err.reason or err}") from err
    except OSError as err:
        raise ConfigError(f"{where}: {tls.certificate_file}, {tls.private_key_file}: {err.strerror}") from err
    return Tunnel(listener, ssl.create_default_context(cafile=tls.certificate_file))
