"""An API server over one immutable Truth, with caches in front of it that may lag behind.

It tells the caches of answered writes as the real door does, and can lose the answer to the n-th write.
"""

from collections.abc import AsyncGenerator, Mapping
from functools import cache
from typing import Any

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.caches import EngineCaches
from firebolt_operator.errors import ConflictError, InvalidError, NotFoundError, UnansweredError
from firebolt_operator.kube.ports import Page, Propagation, Scope
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.store import Entry
from tests.model import objects
from tests.model.world import Children, Engine, Gen, Pods, Service, State, Sts, Truth, with_gen, with_pods

SEEN_VERSION, TRUE_VERSION = 1, 2


class ViolationError(AssertionError):
    """Something happened that must never happen."""


class LostAnswerError(UnansweredError):
    """The connection broke before the answer; the write may have happened."""


class ModelServer:
    """Reader and Writer of one pass. `lose` is the number of the write whose answer is lost, counted from 0."""

    def __init__(self, state: State, caches: EngineCaches, *, lose: int | None = None, happens: bool = True) -> None:
        self.truth = state.truth
        self.seen = state.seen
        self.suspects = set(state.suspects)
        self.is_settled = state.is_settled
        self.history: list[tuple[Truth, bool]] = []  # what each write leaves behind: where a crash could begin
        self._caches = caches
        self._lose = lose
        self._happens = happens
        self._versions = TRUE_VERSION
        is_current = state.truth.engine == state.seen.engine
        self._engine_version = SEEN_VERSION if is_current else TRUE_VERSION
        self._load(state)

    # The caches as they are at the start of a pass

    def _load(self, state: State) -> None:
        seen = state.seen
        if seen.engine is not None:
            self._put(
                self._caches.engines, objects.ENGINE, objects.real_engine(seen.engine, SEEN_VERSION), seen.engine.uid
            )
        self._put(self._caches.engine_classes, objects.CLASS, objects.real_class(is_ready=seen.gates.engine_class), 0)
        self._put(self._caches.instances, objects.INSTANCE, objects.real_instance(is_ready=seen.gates.instance), 0)
        for name in child_names():
            self._load_child(name)
        for generation, pods in enumerate(seen.pods):
            sts = seen.children.gens[generation].sts
            if sts is not None:
                for pod in objects.real_pods(pods, generation, sts.owner, are_going=sts.is_deleting):
                    self._put(self._caches.pods, pod.name, pod, 0)
        for name in state.suspects:
            self._cache_of(name)._suspects.add((objects.NAMESPACE, name))

    def _load_child(self, name: str) -> None:
        child = real_child(self.seen.children, name)
        if child is not None:
            self._put(self._cache_of(name), name, child, child.metadata.uid)

    def _put(self, cache: Any, name: str, value: Any, uid: object) -> None:
        key = (objects.NAMESPACE, name)
        cache._entries[key] = Entry(SEEN_VERSION, str(uid), value)
        cache._indexes.add(key, cache._indexes.terms(value))

    def _cache_of(self, name: str) -> Any:
        if name == objects.ENGINE:
            return self._caches.engines
        if name.endswith("-config"):
            return self._caches.config_maps
        if name.endswith(("-hl", "-service")):
            return self._caches.services
        return self._caches.statefulsets

    # Reader

    async def get(self, ref: Ref, /) -> Manifest | None:
        body = self._body(ref.name)
        return None if body is None else msgspec.json.decode(body)

    async def get_raw(self, ref: Ref, /) -> bytes | None:
        self.suspects.discard(ref.name)
        self._see(ref.name)
        return self._body(ref.name)

    async def list(self, scope: Scope, /) -> list[Manifest]:
        del scope
        return []

    async def pages(self, scope: Scope, /, *, limit: int = 500) -> AsyncGenerator[Page]:
        del limit
        bodies = [
            body
            for name in child_names()
            if self._cache_of(name).resource == scope.resource and (body := self._body(name)) is not None
        ]
        yield Page(bodies, "1")

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, *, timeout: float = 10.0) -> bytes:  # noqa: ASYNC109
        del port, path, timeout
        generation = int(pod.name.split("-g")[1].split("-")[0])
        running = int(self.truth.pods[generation].are_busy)
        return f"firebolt_running_queries {running}\nfirebolt_suspended_queries 0\n".encode()

    def _body(self, name: str) -> bytes | None:
        if name == objects.ENGINE:
            engine = self.truth.engine
            return None if engine is None else encode(objects.real_engine(engine, self._engine_version))
        child = real_child(self.truth.children, name)
        if child is None:
            return None
        return with_version(encode(child), self._versions)

    # Writer

    async def apply(self, manifest: Manifest, /) -> Manifest:
        name, owner = (
            manifest["metadata"]["name"],
            objects.engine_number(manifest["metadata"]["ownerReferences"][0]["uid"]),
        )
        return self._commit(name, self.truth._replace(children=applied(self.truth.children, name, owner, manifest)))

    async def delete(
        self,
        ref: Ref,
        /,
        *,
        uid: str,
        resource_version: str = "",
        propagation: Propagation | None = None,
        grace_seconds: int | None = None,
    ) -> None:
        del resource_version, grace_seconds
        child = real_child(self.truth.children, ref.name)
        if child is None or child.metadata.uid != uid:
            self._forget(ref, uid)
            return
        self._commit(ref.name, deleted(self.truth, ref.name, keeps_pods=propagation == "Foreground"))

    async def create(self, manifest: Manifest, /) -> Manifest:
        return manifest

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest:
        del subresource
        engine = self._checked_engine(patch["metadata"])
        has_finalizer = names.FINALIZER_ENGINE in patch["metadata"]["finalizers"]
        new = engine._replace(has_finalizer=has_finalizer)
        gone = new.is_deleting and not has_finalizer
        return self._commit(ref.name, self.truth._replace(engine=None if gone else new), last=new)

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        engine = self._checked_engine(manifest["metadata"])
        written = parse_engine({"metadata": {}, "spec": None, "status": manifest["status"]}).status
        if written.switched_at != objects.real_status(engine.status).switched_at:
            self.is_settled = False
        new = engine._replace(status=objects.model_status(written))
        return self._commit(objects.ENGINE, self.truth._replace(engine=new))

    async def replace(self, manifest: Manifest, /) -> Manifest:
        raise NotImplementedError(manifest)

    async def resources(self, api_version: str, /) -> tuple[Any, ...]:
        raise NotImplementedError(api_version)

    def watch(self, scope: Scope, /, *, resource_version: str) -> Any:
        raise NotImplementedError(scope, resource_version)

    def _checked_engine(self, metadata: Mapping[str, Any]) -> Engine:
        engine = self.truth.engine
        if engine is None:
            raise NotFoundError("engine", status=404)
        if metadata["resourceVersion"] != str(self._engine_version) or metadata["uid"] != objects.engine_uid(
            engine.uid
        ):
            raise ConflictError("engine")
        return engine

    def _commit(self, name: str, truth: Truth, *, last: Engine | None = None) -> Manifest:
        number = len(self.history)
        is_lost = self._lose == number
        if self._happens or not is_lost:
            if truth.engine != self.truth.engine:
                self._engine_version = self._versions + 1
            self._versions += 1
            self.truth = truth
        self.history.append((self.truth, self.is_settled))
        if is_lost:
            self.suspects.add(name)
            self._cache_of(name)._suspects.add((objects.NAMESPACE, name))
            raise LostAnswerError(name)
        return self._tell(name, last)

    def _tell(self, name: str, last: Engine | None) -> Manifest:
        """The answer, handed to the caches as well."""
        cache, body = self._cache_of(name), self._body(name)
        ref = Ref(cache.resource, objects.NAMESPACE, name)
        if body is None and last is not None:
            body = encode(objects.real_engine(last, self._engine_version))
        self._see(name)
        if body is None:
            self._forget(
                ref, cache._entries[objects.NAMESPACE, name].uid if (objects.NAMESPACE, name) in cache._entries else ""
            )
            return {}
        cache.written(ref, with_version(body, self._versions))
        answer: Manifest = msgspec.json.decode(body)
        return answer

    def _forget(self, ref: Ref, uid: str) -> None:
        self._cache_of(ref.name).deleted(ref, uid)
        self._see(ref.name)

    def _see(self, name: str) -> None:
        """From now on that one object is known as it is."""
        self.seen = self.seen._replace(pods=self.truth.pods)
        if name == objects.ENGINE:
            self.seen = self.seen._replace(engine=self.truth.engine)
        else:
            self.seen = self.seen._replace(children=copied(self.seen.children, self.truth.children, name))


@cache
def child_names() -> list[str]:
    kinds = (names.statefulset_name, names.config_map_name, names.headless_service_name)
    own = [kind(objects.ENGINE, generation) for generation in range(5) for kind in kinds]
    return [*own, names.engine_service_name(objects.ENGINE)]


@cache
def generation_of(name: str) -> int:
    return int(name.removeprefix(f"{objects.ENGINE}-g").split("-")[0])


def real_child(children: Children, name: str) -> Any:
    if name == names.engine_service_name(objects.ENGINE):
        return None if children.service is None else objects.real_service(children.service)
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        return objects.real_config_map(gen.config_map, generation) if gen.config_map else None
    if name.endswith("-hl"):
        return objects.real_headless(gen.headless, generation) if gen.headless else None
    return None if gen.sts is None else objects.real_sts(gen.sts, generation)


def applied(children: Children, name: str, owner: int, manifest: Manifest) -> Children:
    if name == names.engine_service_name(objects.ENGINE):
        _refuse_two_owners(children.service.owner if children.service else 0, owner, name)
        selected = int(manifest["spec"]["selector"][names.LABEL_GENERATION])
        return children._replace(service=Service(owner, selected))
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        _refuse_two_owners(gen.config_map, owner, name)
        return with_gen(children, generation, gen._replace(config_map=owner))
    if name.endswith("-hl"):
        _refuse_two_owners(gen.headless, owner, name)
        return with_gen(children, generation, gen._replace(headless=owner))
    return with_gen(children, generation, gen._replace(sts=_applied_sts(gen, owner, manifest)))


def _applied_sts(gen: Gen, owner: int, manifest: Manifest) -> Sts:
    wanted = Sts(owner, objects.spec_of(manifest["spec"]), is_deleting=False)
    if gen.sts is None:
        return wanted
    _refuse_two_owners(gen.sts.owner, owner, manifest["metadata"]["name"])
    if gen.sts.spec != wanted.spec:
        raise ViolationError(f"a StatefulSet is patched in place: {gen.sts} becomes {wanted}")
    return gen.sts


def _refuse_two_owners(there: int, wanted: int, name: str) -> None:
    if there not in {0, wanted}:
        raise InvalidError(f"{name}: only one owner can be the controller", status=422)


def deleted(truth: Truth, name: str, *, keeps_pods: bool) -> Truth:
    """Foreground deletion leaves the object until its pods are gone; anything else is gone at once."""
    children = truth.children
    if name == names.engine_service_name(objects.ENGINE):
        return truth._replace(children=children._replace(service=None))
    generation = generation_of(name)
    gen = children.gens[generation]
    if name.endswith("-config"):
        return truth._replace(children=with_gen(children, generation, gen._replace(config_map=0)))
    if name.endswith("-hl"):
        return truth._replace(children=with_gen(children, generation, gen._replace(headless=0)))
    if keeps_pods and gen.sts is not None and truth.pods[generation].exist:
        going = gen.sts._replace(is_deleting=True)
        return truth._replace(children=with_gen(children, generation, gen._replace(sts=going)))
    without = with_gen(children, generation, gen._replace(sts=None))
    return truth._replace(children=without, pods=with_pods(truth.pods, generation, Pods()))


def copied(into: Children, source: Children, name: str) -> Children:
    if name == names.engine_service_name(objects.ENGINE):
        return into._replace(service=source.service)
    generation = generation_of(name)
    mine, theirs = into.gens[generation], source.gens[generation]
    if name.endswith("-config"):
        return with_gen(into, generation, mine._replace(config_map=theirs.config_map))
    if name.endswith("-hl"):
        return with_gen(into, generation, mine._replace(headless=theirs.headless))
    return with_gen(into, generation, mine._replace(sts=theirs.sts))


_encoder = msgspec.json.Encoder()
_bodies: dict[int, tuple[Any, bytes]] = {}


def encode(value: Any) -> bytes:
    """Objects are memoised and never change, so their text is made once."""
    known = _bodies.get(id(value))
    if known is None:
        known = (value, _encoder.encode(value))
        _bodies[id(value)] = known
    return known[1]


def with_version(body: bytes, version: int) -> bytes:
    manifest = msgspec.json.decode(body)
    manifest["metadata"]["resourceVersion"] = str(version)
    return _encoder.encode(manifest)
