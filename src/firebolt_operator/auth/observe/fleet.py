"""Which signing keys do the engines of an instance hold? Read from their StatefulSets, never from what engines report.

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
from firebolt_operator.auth.facts import EngineKeys, Fleet, GenerationKeys
from firebolt_operator.auth.held_keys import UNKNOWN, HeldKey, parse_held_keys
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
_Made = tuple[ObjectMeta, bool]
"""A StatefulSet, and whether it has pods or may get some."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetReader:
    engines: Cache[FireboltEngine]
    statefulsets: Cache[Any]  # of KnownStatefulSet
    pods: Cache[Any]  # of KnownPod
    reader: Reader

    def known(self, namespace: str, instance: str) -> Fleet:
        """As the caches have it."""
        engines = self.engines.by_index(BY_INSTANCE, term(namespace, instance))
        lost = {aside.labels.get(names.LABEL_ENGINE) for aside in self.statefulsets.set_aside(namespace)}
        return Fleet(
            engines=(
                *(_engine_keys(engine, self._made(engine), lost) for engine in engines),
                *(_unknown(aside.header.metadata.name) for aside in self.engines.set_aside(namespace)),
            )
        )

    async def live(self, namespace: str, instance: str) -> Fleet:
        """To be asked after the present keys were stored: whoever is born later, or makes a generation, reads those."""
        engines, unknown = await self._live_engines(namespace, instance)
        made, lost = await self._live_statefulsets(namespace)
        return Fleet(
            engines=(
                *(_engine_keys(engine, self._with_pods(engine, made), lost) for engine in engines),
                *map(_unknown, unknown),
            ),
            is_live=True,
        )

    def _made(self, engine: FireboltEngine) -> Iterable[_Made]:
        found: Iterable[KnownStatefulSet] = self.statefulsets.by_index(BY_ENGINE, term(*_key(engine)))
        return self._with_pods(engine, [(each.metadata, each.spec.get("replicas") != 0) for each in found])

    def _with_pods(self, engine: FireboltEngine, made: Iterable[_Made]) -> Iterable[_Made]:
        pods: Iterable[KnownPod] = self.pods.by_index(BY_ENGINE, term(*_key(engine)))
        owners = {pod.owner_uid for pod in pods}
        return [(metadata, may_run or metadata.uid in owners) for metadata, may_run in made]

    async def _live_engines(self, namespace: str, instance: str) -> tuple[list[FireboltEngine], list[str]]:
        found, unknown = list[FireboltEngine](), list[str]()
        async for item in _items(self.reader, Scope(resource=FIREBOLT_ENGINES, namespace=namespace)):
            engine = _parsed(item, parse_engine)
            if engine is None or engine.spec is None:
                # It may well be one of this instance.
                unknown.append(header_of(item).metadata.name)
            elif engine.spec.instance_ref == instance:
                found.append(engine)
        return found, unknown

    async def _live_statefulsets(self, namespace: str) -> tuple[list[_Made], set[str | None]]:
        made, lost = list[_Made](), set[str | None]()
        async for item in _items(
            self.reader, Scope(resource=STATEFULSETS, namespace=namespace, labels=names.LABEL_ENGINE)
        ):
            found = None if isinstance(item, SetAside) else _parsed(item, _STATEFULSETS.decode)
            if found is None:
                lost.add((header_of(item).metadata.labels or {}).get(names.LABEL_ENGINE))
            else:
                made.append((found.metadata, found.spec.replicas != 0 or found.status.replicas > 0))
        return made, lost


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


def _unknown(engine: str) -> EngineKeys:
    """What it holds cannot be told: it is waited for, and named."""
    return EngineKeys(name=engine, generations=(GenerationKeys(keys=(UNKNOWN,), may_run=True),))


def _engine_keys(engine: FireboltEngine, made: Iterable[_Made], lost: set[str | None]) -> EngineKeys:
    name, status = engine.metadata.name, engine.status
    if name in lost:
        return _unknown(name)
    own = {
        metadata.name: GenerationKeys(keys=_held(metadata), may_run=may_run)
        for metadata, may_run in made
        if metadata.controller is not None and metadata.controller.uid == engine.metadata.uid
    }
    has_none = names.statefulset_name(name, status.current_generation) not in own
    return EngineKeys(name=name, generations=tuple(own.values()), is_unborn=status.active_generation < 0 and has_none)


def _held(metadata: ObjectMeta) -> tuple[HeldKey, ...]:
    listed = metadata.annotations.get(names.ANNOTATION_SIGNING_KEYS, "")
    if not listed and metadata.annotations.get(names.ANNOTATION_AUTH_HASH):
        # Made by an earlier release, which did not write down which keys it used.
        return (UNKNOWN,)
    return parse_held_keys(listed)
