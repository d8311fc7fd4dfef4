"""Whom does a query believe that it speaks to, and as whom does it speak? Only where the gateway speaks TLS."""

import ssl
from dataclasses import dataclass
from pathlib import Path

from kubectl_firebolt.errors import PluginError


@dataclass(frozen=True, slots=True, kw_only=True)
class Trust:
    authority: Path | None = None  # PEM; without it, whom this machine believes
    certificate: Path | None = None  # of the client, for a gateway that asks for one
    key: Path | None = None  # of that certificate; without it, in the same file
    server_name: str = ""  # what the gateway's certificate has to be for

    @property
    def is_given(self) -> bool:
        return self != Trust()

    def context(self) -> ssl.SSLContext:
        context = _believing(self.authority)
        if self.certificate is not None:
            _show_as(context, self.certificate, self.key)
        elif self.key is not None:
            raise PluginError("--key: a key without a certificate proves nothing: say --cert")
        return context


def _believing(authority: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authority)
    except OSError as err:
        raise PluginError(f"--ca: {authority} cannot be read as PEM: {err.strerror or err}") from err


def _show_as(context: ssl.SSLContext, certificate: Path, key: Path | None) -> None:
    try:
        context.load_cert_chain(certificate, key)
    except OSError as err:
        raise PluginError(
            f"--cert, --key: {certificate} and its key cannot be read as PEM: {err.strerror or err}"
        ) from err
