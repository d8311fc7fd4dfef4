"""Everything we ask of the API server that changes something: fenced, observed, never repeated blindly."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from firebolt_operator.errors import AlreadyExistsError, ConflictError, UnreadableError
from firebolt_operator.kube.decoding import decode_answer
from firebolt_operator.kube.kinds import Kinds
from firebolt_operator.kube.observers import Observers
from firebolt_operator.kube.paths import creation_path, object_path, with_query
from firebolt_operator.kube.pauses import CALL_SECONDS
from firebolt_operator.kube.ports import Fence, Propagation
from firebolt_operator.kube.reading import read_object
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.kube.translate import refusal
from firebolt_operator.kube.transport import Answer, Call, Lane, Transport
from firebolt_operator.refs import Manifest, Ref

FIELD_MANAGER: Final = "firebolt-operator"
APPLY: Final = "application/apply-patch+yaml"  # JSON is YAML
MERGE: Final = "application/merge-patch+json"
_ENCODER: Final = msgspec.json.Encoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """Under which rules a writer writes."""

    fence: Fence | None = None  # None writes freely
    observers: Observers = field(default_factory=Observers)
    field_manager: str = FIELD_MANAGER
    lane: Lane = Lane.CALLS
    timeout_seconds: float = CALL_SECONDS
    can_repeat: bool = True


class _Request(msgspec.Struct, frozen=True):
    doing: str
    method: str
    path: str
    body: object
    content_type: str = "application/json"


class KubeWriter:
    """The Writer protocol over a Transport."""

    def __init__(self, transport: Transport, kinds: Kinds, rules: WriteRules) -> None:
        self._transport = transport
        self._kinds = kinds
        self._rules = rules
        self._managed = with_query("", {"fieldManager": rules.field_manager})

    async def apply(self, manifest: Manifest, /) -> Manifest:
        ref = await self._kinds.ref_of(manifest)
        path = f"{object_path(ref)}{self._managed}&force=true"
        try:
            return await self._write(ref, _Request(f"applying {ref}", "PATCH", path, manifest, APPLY))
        except AlreadyExistsError as err:
            # Two creators met inside the server; to an apply that is news to look at, not a refusal.
            raise ConflictError(*err.args) from err

    async def create(self, manifest: Manifest, /) -> Manifest:
        ref = await self._kinds.ref_of(manifest)
        path = creation_path(ref) + self._managed
        return await self._write(ref, _Request(f"creating {ref}", "POST", path, manifest))

    async def merge_patch(self, ref: Ref, patch: Mapping[str, Any], /, *, subresource: str = "") -> Manifest:
        part = f" the {subresource} of" if subresource else ""
        path = object_path(ref, subresource) + self._managed
        return await self._write(ref, _Request(f"patching{part} {ref}", "PATCH", path, patch, MERGE))

    async def update_status(self, manifest: Manifest, /) -> Manifest:
        ref = await self._kinds.ref_of(manifest)
        path = object_path(ref, "status") + self._managed
        return await self._write(ref, _Request(f"writing the status of {ref}", "PUT", path, manifest))

    async def replace(self, manifest: Manifest, /) -> Manifest:
        ref = await self._kinds.ref_of(manifest)
        path = object_path(ref) + self._managed
        return await self._write(ref, _Request(f"replacing {ref}", "PUT", path, manifest))

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
        conditions = {"uid": uid, "resourceVersion": resource_version} if resource_version else {"uid": uid}
        options: Manifest = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": conditions}
        if propagation is not None:
            options["propagationPolicy"] = propagation
        if grace_seconds is not None:
            options["gracePeriodSeconds"] = grace_seconds
        request = _Request(f"deleting {ref}", "DELETE", object_path(ref), options)
        with self._rules.observers.told_of_silence(ref):
            left = await self._delete(ref, request, uid)
        if left is None:
            self._rules.observers.deleted(ref, uid)
        else:
            self._rules.observers.written(ref, left)

    async def _delete(self, ref: Ref, request: _Request, uid: str) -> bytes | None:
        """What is left of the object: finalizers, grace or foreground propagation keep it for a while."""
        answer = await self._exchange(ref, request)
        if answer.is_success:
            body, left = await decode_answer(request.doing, answer.body, is_write=True)
            return body if _is_ending(left) and not _is_finished(left) else None
        if answer.code == 404 or (answer.code == 409 and await self._is_another(ref, uid)):
            return None
        raise refusal(request.doing, answer.code, answer.body, is_write=True)

    async def _is_another(self, ref: Ref, uid: str) -> bool:
        """Two preconditions, one code: only a live look tells which of them failed, whatever the server's wording."""
        found = await read_object(self._transport, ref)
        if found is None:
            return True
        _, manifest = await decode_answer(f"reading {ref}", found)
        return bool(manifest["metadata"].get("uid") != uid)

    async def _write(self, ref: Ref, request: _Request) -> Manifest:
        observers = self._rules.observers
        with observers.told_of_silence(ref):
            answer = await self._exchange(ref, request)
            if not answer.is_success:
                raise refusal(request.doing, answer.code, answer.body, is_write=True)
            body, stored = await decode_answer(request.doing, answer.body, is_write=True)
        if _is_finished(stored):
            observers.deleted(ref, stored["metadata"].get("uid", ""))
            return stored
        if stored.get("kind") == ref.resource.kind:
            observers.written(Ref(ref.resource, ref.namespace, stored["metadata"]["name"]), body)
        else:
            # The answer of a subresource such as scale is another kind: it changed the object without showing it.
            observers.unanswered(ref)
        if isinstance(body, SetAside):
            raise UnreadableError(f"{request.doing}: done, but what is stored now cannot be decoded")
        return stored

    async def _exchange(self, ref: Ref, request: _Request) -> Answer:
        rules = self._rules
        call = Call(
            doing=request.doing,
            method=request.method,
            path=request.path,
            resource=ref.resource.plural,
            body=_ENCODER.encode(request.body),
            content_type=request.content_type,
            is_write=True,
            fence=rules.fence,
            lane=rules.lane,
            timeout_seconds=rules.timeout_seconds,
            can_repeat=rules.can_repeat,
        )
        return await self._transport.exchange(call)


def _is_ending(stored: Manifest) -> bool:
    metadata: Manifest = stored.get("metadata") or {}
    return metadata.get("deletionTimestamp") is not None


def _is_finished(stored: Manifest) -> bool:
    """A write that takes the last finalizer off a deleted object ends it, and is answered with its last words: they
    carry the version of before, so that a cache would not believe them.
    """
    metadata: Manifest = stored.get("metadata") or {}
    return _is_ending(stored) and not metadata.get("finalizers") and not metadata.get("deletionGracePeriodSeconds")
