"""How is the API server answered? One path for each kind and purpose; always with a review, never with a crash."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Protocol

import msgspec
from aiohttp import web

from firebolt_operator.admission.decide.answers import PASSED, Answer, Denied, review_response
from firebolt_operator.admission.decide.requests import AdmissionRequest
from firebolt_operator.admission.reading import UnreadableReviewError, read_review
from firebolt_operator.api.names import GROUP, VERSION
from firebolt_operator.errors import OperatorError, SpecRejectedError
from firebolt_operator.kube.set_aside import Undecodable, beside
from firebolt_operator.runtime.clock import Clock

LARGEST_BODY: Final = 7 * 1024 * 1024  # an object before and after, each as large as the API server takes any
DEADLINE_SECONDS: Final = 8.0  # the API server waits for ten
PREFIX: Final = f"{GROUP.replace('.', '-')}-{VERSION}"

Handler = Callable[[AdmissionRequest], Awaitable[Answer]]

log = logging.getLogger(__name__)


class WebhookRecorder(Protocol):
    """Told of every review, for metrics."""

    def began(self, webhook: str, /) -> None: ...
    def ended(self, webhook: str, code: int, seconds: float, /) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    resource: str  # the plural; asked about anything else, it has no answer
    path: str
    handle: Handler
    is_mutating: bool = False


def webhook_path(purpose: str, singular: str) -> str:
    return f"/{purpose}-{PREFIX}-{singular}"


def admission_app(
    webhooks: list[Webhook], recorder: WebhookRecorder, clock: Clock, deadline_seconds: float = DEADLINE_SECONDS
) -> web.Application:
    app = web.Application(client_max_size=LARGEST_BODY)
    for webhook in webhooks:
        endpoint = _Endpoint(webhook, recorder, clock, deadline_seconds)
        app.router.add_post(webhook.path, endpoint.answer)
    return app


@dataclass(frozen=True, slots=True)
class _Endpoint:
    webhook: Webhook
    recorder: WebhookRecorder
    clock: Clock
    deadline_seconds: float

    async def answer(self, http: web.Request) -> web.Response:
        self.recorder.began(self.webhook.path)
        began_at, code = self.clock.monotonic(), 500
        try:
            uid, answer = await self._review(http)
            code = answer.code if isinstance(answer, Denied) else 200
        finally:
            self.recorder.ended(self.webhook.path, code, self.clock.monotonic() - began_at)
        document = msgspec.json.encode(review_response(uid, answer))
        return web.Response(body=document, content_type="application/json")

    async def _review(self, http: web.Request) -> tuple[str, Answer]:
        if http.content_type != "application/json":
            return "", Denied(message=f"content type {http.content_type!r} is not application/json", code=400)
        try:
            request = await beside(read_review, await http.read())
        except web.HTTPRequestEntityTooLarge:
            return "", Denied(message=f"the review is longer than {LARGEST_BODY} bytes", code=413)
        except UnreadableReviewError as err:
            # What cannot be read is not changed either; whoever validates it refuses it.
            return err.uid, PASSED if self.webhook.is_mutating else Denied(message=str(err), code=400)
        if request.resource != self.webhook.resource:
            return request.uid, Denied(message=f"{self.webhook.path} knows nothing of {request.resource}", code=400)
        return request.uid, await self._handled(request)

    async def _handled(self, request: AdmissionRequest) -> Answer:
        try:
            async with asyncio.timeout(self.deadline_seconds):
                return await self.webhook.handle(request)
        except SpecRejectedError as err:
            return Denied(message=str(err), code=400)
        except Undecodable as err:
            return PASSED if self.webhook.is_mutating else Denied(message=f"cannot be decoded: {err}", code=400)
        except TimeoutError:
            return Denied(message=f"no verdict within {self.deadline_seconds:g} s; try again", code=500)
        except OperatorError as err:
            # Fails closed: what a verdict rests on could not be read.
            return Denied(message=f"the verdict needs what could not be read: {err}", code=500)
        except Exception:
            log.exception("no verdict", extra={"webhook": self.webhook.path, "uid": request.uid})
            return Denied(message="the operator failed over this object; its log says why", code=500)
