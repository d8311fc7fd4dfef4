"""Whose token is this, and may they do that? Asked of the API server; nothing is stored, so no fence applies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from firebolt_operator.errors import TransientError
from firebolt_operator.kube.set_aside import Undecodable
from firebolt_operator.kube.translate import refusal
from firebolt_operator.kube.transport import Call, Transport

TIMEOUT_SECONDS: Final = 10.0
T = TypeVar("T")


class TokenOwner(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()


class TokenVerdict(msgspec.Struct, frozen=True, rename={"is_authenticated": "authenticated", "owner": "user"}):
    is_authenticated: bool = False
    owner: TokenOwner = TokenOwner()
    error: str = ""


class AccessVerdict(msgspec.Struct, frozen=True, rename={"is_allowed": "allowed"}):
    is_allowed: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class AccessQuestion:
    """Exactly one of the two: attributes of a resource, or path and verb of a URL that is none."""

    owner: TokenOwner
    resource_attributes: Mapping[str, str] | None = None
    non_resource_attributes: Mapping[str, str] | None = None


class _TokenReview(msgspec.Struct, frozen=True):
    status: TokenVerdict


class _AccessReview(msgspec.Struct, frozen=True):
    status: AccessVerdict


class Reviews:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    async def token(self, token: str, audiences: Sequence[str] = ()) -> TokenVerdict:
        spec = {"token": token, **({"audiences": list(audiences)} if audiences else {})}
        body = await self._ask("authentication.k8s.io/v1", "TokenReview", spec)
        return _read("reviewing a token", body, _TokenReview).status

    async def access(self, question: AccessQuestion) -> AccessVerdict:
        asked = {
            "user": question.owner.username,
            "uid": question.owner.uid,
            "groups": list(question.owner.groups),
            "resourceAttributes": question.resource_attributes,
            "nonResourceAttributes": question.non_resource_attributes,
        }
        spec = {key: value for key, value in asked.items() if value}
        body = await self._ask("authorization.k8s.io/v1", "SubjectAccessReview", spec)
        return _read("reviewing access", body, _AccessReview).status

    async def _ask(self, api_version: str, kind: str, spec: Mapping[str, Any]) -> bytes:
        manifest = {"apiVersion": api_version, "kind": kind, "spec": spec}
        plural = f"{kind.lower()}s"
        doing = f"asking for a {kind}"
        call = Call(
            doing=doing,
            method="POST",
            path=f"/apis/{api_version}/{plural}",
            resource=plural,
            body=msgspec.json.encode(manifest),
            timeout_seconds=TIMEOUT_SECONDS,
        )
        answer = await self._transport.exchange(call)
        if not answer.is_success:
            raise refusal(doing, answer.code, answer.body, is_write=False)
        return answer.body


def _read(doing: str, body: bytes, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(body, type=kind)
    except Undecodable as err:
        raise TransientError(f"{doing}: the answer is not a whole review: {err}") from err
