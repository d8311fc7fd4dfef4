"""How does one request reach the API server, and when may it be sent again?

Again only where that is safe: the server said "not now" (429) or "who are you" (401), or nothing had left yet.
A write that was sent and not answered is never repeated here: it may have happened.
"""

import asyncio
import io
import socket
import time
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from enum import Enum, auto
from typing import Final
from weakref import WeakSet

import aiohttp
import msgspec
from yarl import URL

from firebolt_operator.errors import AnswerTooLongError, FencedError, TransientError
from firebolt_operator.evidence import spoil
from firebolt_operator.kube.attempt import CURRENT, AdmittedRequest, Attempt
from firebolt_operator.kube.bodies import TooLongError, whole_body
from firebolt_operator.kube.credentials import Credentials
from firebolt_operator.kube.identity import Proof
from firebolt_operator.kube.pauses import CALL_SECONDS, Pauses
from firebolt_operator.kube.ports import Fence, RequestRecorder
from firebolt_operator.kube.translate import silence

CONNECT_SECONDS: Final = 10.0
GOODBYE_SECONDS: Final = 2.0
# Bytes. What etcd takes by default is 1.5 MiB; a full ConfigMap grows to six times its size at most, if all is escaped.
ANSWER_LIMIT: Final = 8 << 20
LARGE_BODY: Final = 1 << 18  # bytes
KEEPALIVE_SECONDS: Final = 50.0  # below the API server's own 90: we close first, so no write meets a closing server
USER_AGENT: Final = "firebolt-operator"
VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_Address = tuple[int, int, int, str, tuple[object, ...]]  # as getaddrinfo answers


class Lane(Enum):
    """Who waits for whom: a black-holed pod must not hold up a write, and nothing may hold up the lease."""

    CALLS = auto()
    SCRAPES = auto()
    UNLIMITED = auto()  # watches and the lease


class Call(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the API server."""

    doing: str  # in words, for errors: "applying ConfigMap default/settings"
    method: str
    path: str  # encoded, with its query
    resource: str  # plural, for metrics
    verb: str = ""  # as RBAC says it, for metrics; empty: what the method usually means
    body: bytes | None = None
    content_type: str = "application/json"
    accept: str = "application/json"
    is_write: bool = False
    fence: Fence | None = None
    lane: Lane = Lane.CALLS
    timeout_seconds: float = CALL_SECONDS  # for everything, repetitions included; of a stream until it starts
    answer_limit: int = ANSWER_LIMIT
    can_repeat: bool = True
    is_stream: bool = False


class Answer(msgspec.Struct, frozen=True):
    code: int
    body: bytes
    retry_after: float | None = None  # seconds
    stream: aiohttp.ClientResponse | None = None  # instead of a body, if a stream was asked for and granted

    @property
    def is_success(self) -> bool:
        return 200 <= self.code < 300


class _NotSentError(TransientError):
    """Nothing left this process, or nothing that changes anything: the same request may be tried again."""


class _DistrustedError(TransientError):
    """The server's certificate was not believed."""


class Transport:
    """One session for the whole process; must be made inside a running event loop."""

    def __init__(self, credentials: Credentials, *, limit: int = 64, recorder: RequestRecorder | None = None) -> None:
        self._credentials = credentials
        self._recorder = recorder
        self._unfenced = ""  # how we found out that the fence is not asked
        self._sockets = WeakSet[socket.socket]()
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0, keepalive_timeout=KEEPALIVE_SECONDS, socket_factory=self._new_socket
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            request_class=AdmittedRequest,
            # The deadline of a call is ours (it covers waiting for a lane too); only connecting has one of its own.
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_SECONDS),
            # Compression saves nothing worth having inside a cluster and costs both sides CPU.
            headers={"Accept-Encoding": "identity", "User-Agent": USER_AGENT},
        )
        self._lanes: dict[Lane, AbstractAsyncContextManager[object]] = {
            Lane.CALLS: asyncio.Semaphore(limit),
            Lane.SCRAPES: asyncio.Semaphore(limit),
            Lane.UNLIMITED: nullcontext(),
        }

    async def aclose(self) -> None:
        await self._session.close()
        # A TLS connection that was dropped earlier says goodbye in the background; the loop must not end before it.
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_SECONDS):
                while any(each.fileno() >= 0 for each in self._sockets):  # noqa: ASYNC110 - sockets have no event
                    await asyncio.sleep(0.005)

    def _new_socket(self, address: _Address) -> socket.socket:
        made = _socket_that_notices_a_dead_peer(address)
        self._sockets.add(made)
        return made

    async def exchange(self, call: Call) -> Answer:
        """An answer of any code; silence raises."""
        spoil()
        pauses = Pauses(call.timeout_seconds, can_repeat=call.can_repeat)
        has_renewed = has_reread = False
        while True:
            proof = await self._credentials.identity.proof()
            try:
                answer = await self._try(call, proof, pauses.ends_at)
            except _NotSentError as err:
                if not await pauses.pause():
                    raise TransientError(*err.args) from err.__cause__
                continue
            except _DistrustedError as err:
                if has_reread or not await self._credentials.identity.reread_authorities(proof):
                    raise TransientError(*err.args) from err.__cause__
                has_reread = True
                continue
            if answer.code == 401 and not has_renewed:
                has_renewed = True
                if await self._credentials.identity.renew(proof):
                    continue
            if answer.retry_after is None or not await pauses.pause(answer.retry_after):
                return answer

    async def _try(self, call: Call, proof: Proof, ends_at: float) -> Answer:
        started_at = time.perf_counter()
        code = "error"
        attempt: Attempt | None = None
        self._check_fence(call)
        try:
            async with asyncio.timeout_at(ends_at) as clock:
                attempt = Attempt(clock, call.fence) if call.is_write else None
                CURRENT.set(attempt)
                async with self._lanes[call.lane]:
                    answer = await self._ask(call, proof)
            code = str(answer.code)
            if attempt is not None and not attempt.is_sent:
                self._unfenced = f"{call.doing}: answered (HTTP {code}), but the fence was not asked"
            self._check_fence(call)
        except (aiohttp.ClientError, OSError) as err:
            is_sent = attempt is not None and attempt.is_sent
            error = silence(call.doing, err, may_have_happened=is_sent)
            if isinstance(err, aiohttp.ClientConnectorCertificateError):
                raise _DistrustedError(*error.args) from err
            if isinstance(err, TooLongError) and not is_sent:
                raise AnswerTooLongError(*error.args) from err  # it would be as long the next time
            if is_sent or isinstance(err, aiohttp.ClientSSLError):
                raise error from err
            raise _NotSentError(*error.args) from err
        else:
            return answer
        finally:
            if self._recorder is not None:
                verb = call.verb or VERBS[call.method]
                self._recorder.request(call.method, code, time.perf_counter() - started_at, call.resource, verb)

    def _check_fence(self, call: Call) -> None:
        """A hook of aiohttp asks the fence. Should a release of it forget the hook, then nothing more is written."""
        if call.fence is not None and self._unfenced:
            raise FencedError(f"{self._unfenced}: aiohttp {aiohttp.__version__} is not the one this was made for")

    async def _ask(self, call: Call, proof: Proof) -> Answer:
        headers = {"Accept": call.accept}
        if call.body is not None:
            headers["Content-Type"] = call.content_type
        if proof.authorization:
            headers["Authorization"] = proof.authorization
        proxy = self._credentials.proxy
        response = await self._session.request(
            call.method,
            URL(self._credentials.server + call.path, encoded=True),
            data=_payload(call.body),
            headers=headers,
            allow_redirects=False,
            ssl=proof.tls,
            server_hostname=self._credentials.server_name,
            proxy=proxy.url if proxy else None,
            proxy_headers={"Proxy-Authorization": proxy.authorization} if proxy and proxy.authorization else None,
        )
        if call.is_stream and response.status == 200:
            return Answer(response.status, b"", stream=response)
        async with response:
            return Answer(response.status, await whole_body(response, call.answer_limit), _retry_after(call, response))


def _payload(body: bytes | None) -> bytes | io.BytesIO | None:
    """What is large goes out piece by piece: in one go it would hold up everyone else."""
    return io.BytesIO(body) if body is not None and len(body) > LARGE_BODY else body


def _retry_after(call: Call, response: aiohttp.ClientResponse) -> float | None:
    """Of 429 only, and of 503 where nothing can have happened."""
    is_refusal = response.status == 429 or (response.status == 503 and not call.is_write)
    text = response.headers.get("Retry-After", "") if is_refusal else ""
    return float(text) if text.isdecimal() else None


def _socket_that_notices_a_dead_peer(address: _Address) -> socket.socket:
    """A peer that vanished without a word is noticed within a minute, also on a watch that has nothing to say."""
    family, kind, protocol = address[0], address[1], address[2]
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", 30),
        ("TCP_KEEPINTVL", 10),
        ("TCP_KEEPCNT", 3),
        ("TCP_USER_TIMEOUT", 60_000),
    ):
        if hasattr(socket, option):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
    return made
