"""Which users does an image know? Programs look up the name of the number that they run as."""

from collections.abc import Mapping
from typing import Final

from firebolt_local.images.layers import LayerWriter

_EVERYWHERE: Final = {"root": 0, "nobody": 65534}


def add_accounts(layer: LayerWriter, users: Mapping[str, int], *, home: str = "/") -> None:
    everybody = {**_EVERYWHERE, **users}
    people = "".join(f"{name}:x:{number}:{number}::{home}:/sbin/nologin\n" for name, number in everybody.items())
    groups = "".join(f"{name}:x:{number}:\n" for name, number in everybody.items())
    layer.file("etc/passwd", people.encode())
    layer.file("etc/group", groups.encode())
    layer.file("etc/nsswitch.conf", b"passwd: files\ngroup: files\nhosts: files dns\n")
