"""What is in an image? Read from its layers, where packages say so themselves, and written as CycloneDX."""

import json
import tarfile
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import HeaderParser
from email.policy import compat32
from typing import Any, Final
from urllib.parse import quote

from firebolt_local.images.archive import Image

DEBIAN: Final = "var/lib/dpkg/status.d/"
_PYTHON: Final = ".dist-info/METADATA"
_REFERENCE: Final = "bom-ref"


@dataclass(frozen=True, slots=True, order=True)
class Part:
    name: str
    version: str
    url: str  # a package URL
    licence: str = ""  # an SPDX expression, where the package has one

    def component(self) -> dict[str, Any]:
        licences = [{"expression": self.licence}] if self.licence else []
        named = {"type": "library", _REFERENCE: self.url, "name": self.name, "version": self.version, "purl": self.url}
        return named | ({"licenses": licences} if licences else {})


def parts_of(image: Image) -> list[Part]:
    return sorted({part for layer in image.layers for part in _parts(tarfile.open(layer.path))})


def bill_of_materials(image: Image, digest: str) -> str:
    """The same text for the same image: it says nothing of when and where it was written."""
    name, _, version = image.reference.rpartition(":")
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_OID, digest)}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "container",
                _REFERENCE: digest,
                "name": name,
                "version": version,
                "hashes": [{"alg": "SHA-256", "content": digest.removeprefix("sha256:")}],
                "licenses": [{"expression": "Apache-2.0"}],
            }
        },
        "components": [part.component() for part in parts_of(image)],
    }
    return f"{json.dumps(document, indent=1)}\n"


def _parts(archive: tarfile.TarFile) -> Iterator[Part]:
    with archive:
        for member in archive:
            content = archive.extractfile(member) if member.isreg() else None
            if content is None:
                continue
            if member.name.startswith(DEBIAN):
                yield _debian(content.read())
            elif member.name.endswith(_PYTHON):
                yield _python(content.read())


def _debian(control: bytes) -> Part:
    said = HeaderParser(policy=compat32).parsestr(control.decode())
    name, version, architecture = said["Package"], said["Version"], said["Architecture"]
    return Part(name, version, f"pkg:deb/debian/{quote(name)}@{quote(version, safe='')}?arch={architecture}")


def _python(metadata: bytes) -> Part:
    said = HeaderParser(policy=compat32).parsestr(metadata.decode())
    name, version = said["Name"], said["Version"]
    plain = name.lower().replace("_", "-").replace(".", "-")
    return Part(name, version, f"pkg:pypi/{plain}@{quote(version, safe='')}", said["License-Expression"] or "")
