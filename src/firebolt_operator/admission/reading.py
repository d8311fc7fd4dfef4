"""What does the API server ask? Read without trusting it: anybody can write an object that no decoder takes."""

from typing import Final

import msgspec

from firebolt_operator.admission.decide.requests import AdmissionRequest, Operation
from firebolt_operator.kube.scanning import members
from firebolt_operator.kube.set_aside import SetAside, Undecodable, is_readable, outline

_NULL: Final = b"null"


class UnreadableReviewError(Exception):
    """Nobody can answer it as it is; `uid` says what was asked, if that much could be read."""

    def __init__(self, problem: str, uid: str = "") -> None:
        super().__init__(problem)
        self.uid = uid


class _Resource(msgspec.Struct, frozen=True):
    resource: str = ""


class _User(msgspec.Struct, frozen=True):
    username: str = ""


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    uid: str
    operation: Operation
    resource: _Resource
    sub_resource: str = ""
    namespace: str = ""
    name: str = ""
    user_info: _User = _User()
    object: msgspec.Raw = msgspec.Raw()
    old_object: msgspec.Raw = msgspec.Raw()


class _Review(msgspec.Struct, frozen=True):
    request: _Request


_REVIEW: Final = msgspec.json.Decoder(_Review)


def read_review(body: bytes) -> AdmissionRequest:
    """Raises UnreadableReviewError."""
    try:
        request = _REVIEW.decode(body).request
    except Undecodable:
        return _read_piecewise(body)
    return _request(request, _present(request.object), _present(request.old_object))


def _read_piecewise(body: bytes) -> AdmissionRequest:
    """Something in it is nested too deeply, or is no JSON at all: the parts are taken out one by one."""
    uid = ""
    try:
        parts = _parts(_parts(body).get("request", b""))
        uid = msgspec.json.decode(parts.get("uid", b'""'), type=str)
        new, old = _present(parts.pop("object", _NULL)), _present(parts.pop("oldObject", _NULL))
        request = _decoded(parts)
    except (ValueError, RecursionError) as err:
        raise UnreadableReviewError(f"this is no AdmissionReview of version v1: {err}", uid) from err
    if new and not is_readable(new):
        raise UnreadableReviewError("the object cannot be decoded; is something in it nested very deeply?", uid)
    if old and not is_readable(old):
        old = _outlined(old)
    return _request(request, new, old)


def _parts(text: bytes) -> dict[str, bytes]:
    return {name: text[value.start : value.end] for name, value in members(text)}


def _decoded(parts: dict[str, bytes]) -> _Request:
    known = {field.encode_name for field in msgspec.structs.fields(_Request)}
    kept = b",".join(msgspec.json.encode(name) + b":" + text for name, text in parts.items() if name in known)
    return msgspec.json.decode(b"{" + kept + b"}", type=_Request)


def _outlined(text: bytes) -> bytes:
    try:
        return outline(text)
    except ValueError:
        return SetAside(b"{}")


def _present(raw: msgspec.Raw | bytes) -> bytes:
    text = bytes(raw)
    return b"" if text == _NULL else text


def _request(request: _Request, new: bytes, old: bytes) -> AdmissionRequest:
    return AdmissionRequest(
        uid=request.uid,
        operation=request.operation,
        resource=request.resource.resource,
        subresource=request.sub_resource,
        namespace=request.namespace,
        name=request.name,
        username=request.user_info.username,
        new=new,
        old=old,
        is_old_whole=not isinstance(old, SetAside),
    )
