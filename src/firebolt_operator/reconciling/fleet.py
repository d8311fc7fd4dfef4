"""Which engines does an instance have, and which generations were made of them? By their StatefulSets.

From caches that others fill anyway, or live: only the server knows of an engine that was born a moment ago.
"""

from collections.abc import AsyncGenerator, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeVar

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import Model, ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINES, STATEFULSETS
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.reconciling.indexes import BY_ENGINE, BY_INSTANCE, term
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.objects import Key, header_of

T = TypeVar("T")


class KnownStatefulSet(Protocol):
    """As a cache holds it."""

    @property
    def metadata(self) -> ObjectMeta: ...
    @property
    def spec(self) -> Mapping[str, Any]: ...


class KnownPod(Protocol):
    @property
    def owner_uid(self) -> str: ...


class _Spec(Model, frozen=True, kw_only=True):
    replicas: int | None = None


class _Status(Model, frozen=True, kw_only=True):
    replicas: int = 0  # pods that it has, those that are leaving included


class _StatefulSet(Model, frozen=True, kw_only=True):
    metadata: ObjectMeta
    spec: _Spec = _Spec()
    status: _Status = _Status()


_STATEFULSETS: Final = msgspec.json.Decoder(_StatefulSet)


@dataclass(frozen=True, slots=True)
class MadeGeneration:
    """One generation, by its StatefulSet."""

    metadata: ObjectMeta
    may_run: bool  # it has pods, or asks for some


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeEngine:
    engine: FireboltEngine
    generations: tuple[MadeGeneration, ...]  # its own ones only


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeFleet:
    """An engine is found by the instance that it names, never by a label."""

    engines: tuple[MadeEngine, ...] = ()
    unknown: tuple[str, ...] = ()  # of which something cannot be read; it may well be one of this instance


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReader:
    engines: Cache[FireboltEngine]
    statefulsets: Cache[Any]  # of KnownStatefulSet
    pods: Cache[Any]  # of KnownPod
    reader: Reader

    def known(self, namespace: str, instance: str) -> MadeFleet:
        """As the caches have it."""
        engines = self.engines.by_index(BY_INSTANCE, term(namespace, instance))
        lost = {aside.labels.get(names.LABEL_ENGINE) for aside in self.statefulsets.set_aside(namespace)}
        unknown = [aside.header.metadata.name for aside in self.engines.set_aside(namespace)]
        return _fleet(((engine, self._made(engine)) for engine in engines), lost, unknown)

    async def live(self, namespace: str, instance: str) -> MadeFleet:
        """To be asked after what engines are made from was stored: whoever is born later reads that."""
        engines, unknown = await self._live_engines(namespace, instance)
        made, lost = await self._live_statefulsets(namespace)
        return _fleet(((engine, self._with_pods(engine, made)) for engine in engines), lost, unknown)

    def _made(self, engine: FireboltEngine) -> Iterable[MadeGeneration]:
        found: Iterable[KnownStatefulSet] = self.statefulsets.by_index(BY_ENGINE, term(*_key(engine)))
        made = [MadeGeneration(each.metadata, each.spec.get("replicas") != 0) for each in found]
        return self._with_pods(engine, made)

    def _with_pods(self, engine: FireboltEngine, made: Iterable[MadeGeneration]) -> Iterable[MadeGeneration]:
        pods: Iterable[KnownPod] = self.pods.by_index(BY_ENGINE, term(*_key(engine)))
        owners = {pod.owner_uid for pod in pods}
        return [MadeGeneration(each.metadata, each.may_run or each.metadata.uid in owners) for each in made]

    async def _live_engines(self, namespace: str, instance: str) -> tuple[list[FireboltEngine], list[str]]:
        found, unknown = list[FireboltEngine](), list[str]()
        async for item in _items(self.reader, Scope(resource=FIREBOLT_ENGINES, namespace=namespace)):
            engine = _parsed(item, parse_engine)
            if engine is None or engine.spec is None:
                unknown.append(header_of(item).metadata.name)
            elif engine.spec.instance_ref == instance:
                found.append(engine)
        return found, unknown

    async def _live_statefulsets(self, namespace: str) -> tuple[list[MadeGeneration], set[str | None]]:
        made, lost = list[MadeGeneration](), set[str | None]()
        async for item in _items(
            self.reader, Scope(resource=STATEFULSETS, namespace=namespace, labels=names.LABEL_ENGINE)
        ):
            found = None if isinstance(item, SetAside) else _parsed(item, _STATEFULSETS.decode)
            if found is None:
                lost.add((header_of(item).metadata.labels or {}).get(names.LABEL_ENGINE))
            else:
                may_run = found.spec.replicas != 0 or found.status.replicas > 0
                made.append(MadeGeneration(found.metadata, may_run))
        return made, lost


def _fleet(
    engines: Iterable[tuple[FireboltEngine, Iterable[MadeGeneration]]], lost: set[str | None], unknown: list[str]
) -> MadeFleet:
    """Of an engine with a StatefulSet that cannot be read, nothing is known."""
    listed = list(engines)
    known = [(engine, made) for engine, made in listed if engine.metadata.name not in lost]
    return MadeFleet(
        engines=tuple(MadeEngine(engine=engine, generations=_own(engine, made)) for engine, made in known),
        unknown=(*(engine.metadata.name for engine, _ in listed if engine.metadata.name in lost), *unknown),
    )


def _own(engine: FireboltEngine, made: Iterable[MadeGeneration]) -> tuple[MadeGeneration, ...]:
    owners = ((each, each.metadata.controller) for each in made)
    return tuple(each for each, owner in owners if owner is not None and owner.uid == engine.metadata.uid)


async def _items(reader: Reader, scope: Scope) -> AsyncGenerator[bytes]:
    async with aclosing(reader.pages(scope)) as pages:
        async for page in pages:
            for item in page.items:
                yield item


def _parsed(item: bytes, parse: Callable[[bytes], T]) -> T | None:
    try:
        return parse(item)
    except (SpecRejectedError, msgspec.MsgspecError):
        return None


def _key(engine: FireboltEngine) -> Key:
    return engine.metadata.namespace, engine.metadata.name
