"""Which image does a pod template name for a container?"""

from collections.abc import Iterable

from firebolt_operator.api.names import CONTAINER_ENGINE, CONTAINER_METADATA
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.refs import Manifest


def engine_image(template: Manifest | None) -> str:
    """Of the engine's container, in a pod template or in what a StatefulSet has of one; empty where none is named."""
    return _image(template, CONTAINER_ENGINE)


def metadata_image(template: Manifest | None, default: str) -> str:
    return _image(template, CONTAINER_METADATA) or default


def effective_engine_image(templates: Iterable[Manifest | None], default: str) -> str:
    """The highest template first."""
    return next(filter(None, map(engine_image, templates)), default)


def _image(template: Manifest | None, container: str) -> str:
    containers = mappings(mapping(mapping(template).get("spec")).get("containers"))
    return next((text(each.get("image")) for each in containers if each.get("name") == container), "")
