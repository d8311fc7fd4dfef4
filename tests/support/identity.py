"""The step of an instance's pass for its id, as tests put it together."""

from firebolt_operator.engine.observe.caches import EngineCaches, engine_caches
from firebolt_operator.instance.identity import IdentityStep
from firebolt_operator.instance.observe.bound_images import BoundImages
from firebolt_operator.kube.ports import Reader, Writer
from tests.support.instances import IMAGES

ENGINE_IMAGE = "engine:1.0"


def identity_step(
    reader: Reader,
    writer: Writer,
    caches: EngineCaches | None = None,
    *,
    metadata_image: str = IMAGES.metadata_service,
    engine_image: str = ENGINE_IMAGE,
) -> IdentityStep:
    engines = caches or engine_caches((), "")
    images = BoundImages(
        engines=engines.engines,
        inheritance=engines.inheritance(reader),
        reader=reader,
        default_image=engine_image,
    )
    return IdentityStep(images=images, metadata_default=metadata_image, writer=writer)
