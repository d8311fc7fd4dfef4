"""How is an Envoy extension written down? By name and by the type of its settings."""

from typing import Final

from firebolt_operator.refs import Manifest

TYPE_PREFIX: Final = "type.googleapis.com/envoy.extensions."


def extension(name: str, settings_type: str, settings: Manifest | None = None) -> Manifest:
    return {"name": name, "typed_config": typed(settings_type, settings)}


def typed(settings_type: str, settings: Manifest | None = None) -> Manifest:
    return {"@type": TYPE_PREFIX + settings_type, **(settings or {})}


def socket_address(address: str, port: int) -> Manifest:
    return {"socket_address": {"address": address, "port_value": port}}
