"""Which Secrets does the operator mount into a container, and where?"""

from dataclasses import dataclass

from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretMount:
    volume: str
    secret: str
    path: str
    keys: tuple[str, ...] = ()  # empty means all of them


def secret_volume(mount: SecretMount) -> Manifest:
    items = {"items": [{"key": key, "path": key} for key in mount.keys]} if mount.keys else {}
    return {"name": mount.volume, "secret": {"secretName": mount.secret, **items}}
