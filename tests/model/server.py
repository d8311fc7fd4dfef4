"""An API server over one immutable Truth, with caches in front of it that may lag behind.

It tells the caches of answered writes as the real door does, and can lose the answer to the n-th write.
"""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, NamedTuple

import msgspec

from firebolt_operator.api import names
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.engine.observe.caches import EngineCaches
from firebolt_operator.errors import ConflictError, ForbiddenError, NotFoundError, UnansweredError
from firebolt_operator.kube.ports import Page, Propagation, Scope
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.store import Entry
from tests.model import objects
from tests.model.children import BUDGET, applied, child_names, copied, deleted, owner_of, real_child
from tests.model.world import JUST_SWITCHED, STRANGER, Engine, State, Truth

SEEN_VERSION, TRUE_VERSION = 1, 2


class LostAnswerError(UnansweredError):
    """The connection broke before the answer; the write may have happened."""


class Trouble(NamedTuple):
    """Writes are counted from 0; None for none of them."""

    lost: int | None = None  # no answer comes
    happens: bool = True  # whether the lost one was carried out
    refused: int | None = None


NO_TROUBLE = Trouble()


class ModelServer:
    """Reader and Writer of one pass; `trouble` is what befalls one of its writes."""

    def __init__(self, state: State, caches: EngineCaches, trouble: Trouble) -> None:
        self.truth = state.truth
        self.seen = state.seen
        self.suspects = set(state.suspects)
        self.elapsed = state.elapsed
        self.question: int | None = None  # the generation whose pods this pass wants to be asked
        self.history: list[tuple[Truth, int]] = []  # what each write leaves behind: where a crash could begin
        self._caches = caches
        self._trouble = trouble
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
        # What carries none of our labels is in no cache, whatever a live read once told.
        if child is not None and child.metadata.labels:
            self._put(self._cache_of(name), name, child, child.metadata.uid)

    def _put(self, cache: Any, name: str, value: Any, uid: object) -> None:
        key = (objects.NAMESPACE, name)
        cache._entries[key] = Entry(SEEN_VERSION, str(uid), value)
        cache._indexes.move(key, (), cache._indexes.terms(value))

    def _cache_of(self, name: str) -> Any:
        if name == objects.ENGINE:
            return self._caches.engines
        if name == BUDGET:
            return self._caches.disruption_budgets
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
            if self._cache_of(name).resource == scope.resource
            and owner_of(self.truth.children, name) != STRANGER
            and (body := self._body(name)) is not None
        ]
        yield Page(bodies, "1")

    async def pod_proxy_get(self, pod: Ref, port: int, path: str, /, *, timeout: float = 10.0) -> bytes:  # noqa: ASYNC109
        del port, path, timeout
        raise NotImplementedError(f"no pass waits for {pod.name}")

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
        if "resourceVersion" in manifest["metadata"] and not self._is_known(name):
            raise ConflictError(f"{name}: it is not what was seen any more")
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
            self.elapsed = JUST_SWITCHED
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
        number, trouble = len(self.history), self._trouble
        is_lost, is_refused = trouble.lost == number, trouble.refused == number
        if not is_refused and (trouble.happens or not is_lost):
            if truth.engine != self.truth.engine:
                self._engine_version = self._versions + 1
            self._versions += 1
            self.truth = truth
        self.history.append((self.truth, self.elapsed))
        if is_refused:
            raise ForbiddenError(f"{name}: refused", status=403)
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

    def _is_known(self, name: str) -> bool:
        """Or gone, which an apply with a version cannot tell from never having been."""
        real = real_child(self.truth.children, name)
        return real is None or real is real_child(self.seen.children, name)

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
