"""What may be written in a kubeconfig, as far as we read it."""

from typing import Any

import msgspec


class Context(msgspec.Struct, frozen=True):
    cluster: str
    user: str = ""
    namespace: str = ""


class Extension(msgspec.Struct, frozen=True):
    name: str
    extension: Any = None


class Cluster(msgspec.Struct, frozen=True, rename="kebab"):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str | None = None
    proxy_url: str | None = None
    extensions: list[Extension] | None = None


class Variable(msgspec.Struct, frozen=True):
    name: str
    value: str


class Plugin(msgspec.Struct, frozen=True, rename="camel"):
    """A program that knows our credentials."""

    api_version: str
    command: str
    args: list[str] | None = None
    env: list[Variable] | None = None
    install_hint: str | None = None
    interactive_mode: str = ""
    provide_cluster_info: bool = False


class User(msgspec.Struct, frozen=True, rename="kebab"):
    exec: Plugin | None = None
    username: str = ""
    password: str = ""
    token: str = ""
    token_file: str = msgspec.field(name="tokenFile", default="")
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    auth_provider: Any = None
    impersonated: Any = msgspec.field(name="as", default=None)
    impersonated_uid: Any = msgspec.field(name="as-uid", default=None)
    impersonated_groups: Any = msgspec.field(name="as-groups", default=None)

    def unsupported(self) -> str:
        """The first field that we would have to obey and cannot; empty if there is none."""
        asked = {
            "auth-provider": self.auth_provider,
            "as": self.impersonated,
            "as-uid": self.impersonated_uid,
            "as-groups": self.impersonated_groups,
        }
        return next((name for name, value in asked.items() if value), "")
