"""What happens to a query between its arrival and its last byte?"""

import asyncio
import logging
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from aiohttp import web

from firebolt_local.standins.engine.activity import Activity
from firebolt_local.standins.engine.database import Database, Query, QueryFailedError, requested_sleep
from firebolt_local.standins.engine.json_compact import Document
from firebolt_local.standins.pod_header import POD_HEADER

DRAINED_HEADER: Final = "X-Firebolt-Drained"
OUTPUT_FORMAT: Final = "JSON_Compact"
MAX_ADMITTED: Final = 1024
_INTERRUPT_EVERY_SECONDS: Final = 0.05

T = TypeVar("T")
log = logging.getLogger(__name__)


class Queries:
    def __init__(self, database: Database, activity: Activity, *, slots: int) -> None:
        self._database = database
        self._activity = activity
        self._pod = socket.gethostname()
        self._threads = ThreadPoolExecutor(slots, thread_name_prefix="query")
        self._slots = asyncio.Semaphore(slots)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        sql = await request.text() or request.query.get("query", "")
        # Nothing is awaited between this look and the count, so no query slips past the end of a drain.
        if refusal := self._refusal(request, sql):
            self._activity.refused += 1
            return refusal
        with self._activity.query():
            async with self._slots:
                return await self._run(request, sql)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _refusal(self, request: web.Request, sql: str) -> web.Response | None:
        if self._activity.is_stopping:
            return _text_answer(503, "the engine is shutting down", {DRAINED_HEADER: "true"})
        if not self._activity.is_formed:
            return _text_answer(503, "the engine's cluster has not formed yet")
        if self._activity.admitted >= MAX_ADMITTED:
            return _text_answer(429, "too many queries")
        if not sql.strip():
            return _text_answer(400, "the query is empty")
        output_format = request.query.get("output_format", OUTPUT_FORMAT)
        if output_format != OUTPUT_FORMAT:
            return _text_answer(400, f"unknown output_format {output_format!r}; this stand-in knows {OUTPUT_FORMAT}")
        return None

    async def _run(self, request: web.Request, sql: str) -> web.StreamResponse:
        started_at = time.monotonic()
        await asyncio.sleep(requested_sleep(sql).total_seconds())
        query = self._database.query(sql)
        try:
            document = Document(await self._on_thread(query, query.execute))
            first = document.rows(await self._on_thread(query, query.fetch))
        except QueryFailedError as err:
            self._activity.failed += 1
            return _text_answer(400 if err.is_callers_fault else 500, str(err))
        else:
            return await self._stream(request, query, document, (started_at, first))
        finally:
            query.close()

    async def _stream(
        self, request: web.Request, query: Query, document: Document, begun: tuple[float, bytes]
    ) -> web.StreamResponse:
        started_at, rows = begun
        response = web.StreamResponse(headers={"Content-Type": "application/json", POD_HEADER: self._pod})
        response.enable_chunked_encoding()
        await response.prepare(request)
        await self._send(response, document.head())
        try:
            while rows:
                await self._send(response, rows)
                rows = document.rows(await self._on_thread(query, query.fetch))
        except QueryFailedError as err:
            # The status is out already: only an answer that ends too early can tell.
            log.warning("query failed after its first rows: %s", err)
            self._activity.failed += 1
            if request.transport is not None:
                request.transport.abort()
            return response
        await self._send(response, document.tail(elapsed_seconds=time.monotonic() - started_at))
        await response.write_eof()
        self._activity.succeeded += 1
        return response

    async def _send(self, response: web.StreamResponse, data: bytes) -> None:
        with self._activity.suspension():
            await response.write(data)

    async def _on_thread(self, query: Query, work: Callable[[], T]) -> T:
        """A cancelled query counts as running until its thread has really stopped."""
        future = asyncio.get_running_loop().run_in_executor(self._threads, work)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            while not future.done():
                # More than once: an interruption before the first instruction is forgotten.
                query.interrupt()
                await asyncio.wait([future], timeout=_INTERRUPT_EVERY_SECONDS)
            future.exception()
            raise


def _text_answer(status: int, text: str, headers: dict[str, str] | None = None) -> web.Response:
    return web.Response(status=status, text=text + "\n", headers=headers)
