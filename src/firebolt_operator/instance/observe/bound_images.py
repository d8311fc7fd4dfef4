"""Which images do the engines of an instance ask for, those that are stopped included?"""

from collections.abc import Iterable
from dataclasses import dataclass

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.errors import OperatorError, SpecRejectedError
from firebolt_operator.instance.decide.identity import Subject
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.manifests.template_images import effective_engine_image
from firebolt_operator.reconciling.indexes import BY_INSTANCE, term
from firebolt_operator.reconciling.inheritance import Inheritance
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.objects import header_of


class UnresolvedImageError(OperatorError):
    """What an engine asks for cannot be told, so nothing can be decided about it."""

    def __init__(self, engine: str, problem: str) -> None:
        super().__init__(f'cannot resolve engine "{engine}" image: {problem}')


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundImages:
    """Both raise UnresolvedImageError."""

    engines: Cache[FireboltEngine]
    inheritance: Inheritance
    reader: Reader
    default_image: str

    def known(self, instance: FireboltInstance) -> list[Subject]:
        """By the caches: it costs nothing, and is enough to know that somebody is too old."""
        metadata = instance.metadata
        for aside in self.engines.set_aside(metadata.namespace):
            raise UnresolvedImageError(aside.header.metadata.name, "the engine cannot be decoded")
        return self._subjects(self.engines.by_index(BY_INSTANCE, term(metadata.namespace, metadata.name)))

    async def live(self, instance: FireboltInstance) -> list[Subject]:
        """As the server has them: a selector may hide an engine from the cache, and it reads the id all the same."""
        listed = list[FireboltEngine]()
        async for page in self.reader.pages(Scope(resource=FIREBOLT_ENGINES, namespace=instance.metadata.namespace)):
            listed += map(_parsed, page.items)
        return self._subjects(each for each in listed if _instance_of(each) == instance.metadata.name)

    def _subjects(self, engines: Iterable[FireboltEngine]) -> list[Subject]:
        return [self._subject(engine) for engine in sorted(engines, key=lambda engine: engine.metadata.name)]

    def _subject(self, engine: FireboltEngine) -> Subject:
        name = engine.metadata.name
        try:
            templates = self.inheritance.templates(
                engine.metadata.namespace, engine.spec or EngineSpec(instance_ref="")
            )
        except OperatorError as err:
            raise UnresolvedImageError(name, str(err)) from err
        return Subject(f'engine "{name}"', effective_engine_image(templates, self.default_image))


def _instance_of(engine: FireboltEngine) -> str:
    return engine.spec.instance_ref if engine.spec else ""


def _parsed(body: bytes) -> FireboltEngine:
    name = header_of(body).metadata.name
    if isinstance(body, SetAside):
        raise UnresolvedImageError(name, "the engine cannot be decoded")
    try:
        return parse_engine(body)
    except SpecRejectedError as err:
        raise UnresolvedImageError(name, str(err)) from err
