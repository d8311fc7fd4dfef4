"""The step of an instance's pass that sees to its id: judges it, and rewrites it once all images take it."""

from collections.abc import Iterable
from dataclasses import dataclass

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.instance_id import canonical_id
from firebolt_operator.errors import ForbiddenError, InvalidError
from firebolt_operator.instance.act.writes import patch_instance
from firebolt_operator.instance.decide import identity
from firebolt_operator.instance.decide.identity import Subject
from firebolt_operator.instance.observe.bound_images import BoundImages, UnresolvedImageError
from firebolt_operator.kube.ports import Writer
from firebolt_operator.manifests.releases import Age, age
from firebolt_operator.manifests.template_images import metadata_image
from firebolt_operator.reconciling.verdicts import Verdict
from firebolt_operator.refs import Manifest


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The id is another one now, and all else has to be looked at anew."""

    id: str


def mints_lower_case(metadata_template: Manifest | None, *, metadata_default: str, engine_default: str) -> bool:
    """Whether a new instance's images take a lower-case id, as far as they are known: it has no engines yet."""
    images = (metadata_image(metadata_template, metadata_default), engine_default)
    return all(age(image) is Age.NEW for image in images)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityStep:
    images: BoundImages
    metadata_default: str
    writer: Writer

    def mints_lower_case(self, instance: FireboltInstance) -> bool:
        template = instance.spec.metadata.template
        return mints_lower_case(
            template, metadata_default=self.metadata_default, engine_default=self.images.default_image
        )

    async def run(self, instance: FireboltInstance) -> Verdict | Rewritten | None:
        """None where nothing is to be said, because nothing is looked at."""
        if not identity.is_looked_at(instance):
            return None
        return (
            identity.canonical_verdict(instance.spec.id)
            or await self._obstacle(instance)
            or await self._rewrite(instance)
        )

    async def _obstacle(self, instance: FireboltInstance) -> Verdict | None:
        """The caches are asked first: whoever waits for an old image costs no requests meanwhile."""
        template = instance.spec.metadata.template
        metadata = Subject("metadata", metadata_image(template, self.metadata_default))
        try:
            found = identity.obstacle(metadata) or _first(self.images.known(instance))
            return found or _first(await self.images.live(instance))
        except UnresolvedImageError as err:
            return identity.unresolved(str(err))

    async def _rewrite(self, instance: FireboltInstance) -> Verdict | Rewritten:
        wanted = canonical_id(instance.spec.id)
        try:
            await patch_instance(instance, {"spec": {"id": wanted}}, self.writer)
        except (InvalidError, ForbiddenError) as err:
            # The definition of an older release, or somebody's policy: all else goes on under the id that it has.
            return identity.refused(wanted, str(err))
        return Rewritten(wanted)


def _first(subjects: Iterable[Subject]) -> Verdict | None:
    return next(filter(None, map(identity.obstacle, subjects)), None)
