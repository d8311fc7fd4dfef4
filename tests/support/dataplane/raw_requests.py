"""Requests as a hostile neighbour would write them, byte for byte: forty ways to ask for what nobody may have."""

import asyncio
import re
from dataclasses import dataclass
from typing import Final

# Of its answers, not of the requests: a refusal may quote what it refuses.
ADMIN_WORDS: Final = re.compile(rb"envoy\.admin\.|admin commands|\.upstream_|OK\n|envoy_build|/etc/envoy")
ANSWER_SECONDS: Final = 20.0
AT_ONCE: Final = 8
QUIET_SECONDS: Final = 1.0  # after which a server that answered nothing is taken to wait for more


def _request(target: str, method: str = "GET", version: str = "1.1", more: str = "") -> bytes:
    return f"{method} {target} HTTP/{version}\r\nHost: pod\r\nContent-Length: 0\r\n{more}\r\n".encode("latin-1")


_UPGRADE: Final = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
_H2C: Final = "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
_PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"


def _over_http2(path: bytes, method: bytes = b"\x82") -> bytes:
    """Stream 1, ended with its headers: the method by its number in the static table, path and host as literals."""
    block = method + b"\x86\x04" + bytes([len(path)]) + path + b"\x01\x03pod"
    return _PREFACE + len(block).to_bytes(3, "big") + b"\x01\x05\x00\x00\x00\x01" + block


FORBIDDEN: Final[dict[str, bytes]] = {
    **{
        f"{method} {target}": _request(target, method)
        for method, target in (
            ("GET", "/"),
            ("GET", "/config_dump"),
            ("POST", "/quitquitquit"),
            ("POST", "/healthcheck/fail"),
            ("GET", "/stats"),
            ("GET", "/stats/"),
            ("GET", "/stats/prometheus/"),
            ("GET", "/stats/prometheus/../../config_dump"),
            ("POST", "/stats/prometheus/../../quitquitquit"),
            ("GET", "/stats/prometheus/%2e%2e/%2e%2e/config_dump"),
            ("POST", "/stats/prometheus/%2e%2e/%2e%2e/quitquitquit"),
            ("GET", "/stats/prometheus/..%2f..%2fconfig_dump"),
            ("GET", "/stats/prometheus%2f..%2f..%2fconfig_dump"),
            ("GET", "/stats/prometheus/..%5c..%5cconfig_dump"),
            ("GET", "/stats/prometheus/..\\..\\config_dump"),
            ("GET", "/stats%2fprometheus"),
            ("GET", "//stats/prometheus"),
            ("GET", "/stats//prometheus"),
            ("GET", "//config_dump"),
            ("GET", "/./stats/prometheus"),
            ("GET", "/x/../stats/prometheus"),
            ("GET", "/stats/prometheus;/../../config_dump"),
            ("GET", "/stats/prometheus;x=1"),
            ("GET", "/stats/prometheus%00"),
            ("GET", "/stats/prometheus%3fformat=json"),
            ("GET", "/stats/prometheus.."),
            ("GET", "/stats/prometheusx"),
            ("GET", "/STATS/PROMETHEUS"),
            ("GET", "/healthz/../config_dump"),
            ("GET", "/healthz%3f/../config_dump"),
            ("GET", "/healthz/"),
            ("HEAD", "/stats/prometheus"),
            ("POST", "/stats/prometheus"),
            ("PUT", "/stats/prometheus"),
            ("DELETE", "/stats/prometheus"),
            ("OPTIONS", "*"),
            ("TRACE", "/stats/prometheus"),
            ("PATCH", "/stats/prometheus"),
            ("get", "/stats/prometheus"),
            ("POST", "/healthz"),
            ("GET", "http://127.0.0.1:9901/config_dump"),
            ("GET", "http://127.0.0.1:9901/stats/prometheus/../../config_dump"),
            ("POST", "http://127.0.0.1:9901/quitquitquit"),
            ("CONNECT", "127.0.0.1:9901"),
            ("CONNECT", "/stats/prometheus"),
        )
    },
    "config_dump by HTTP/1.0": _request("/config_dump", version="1.0"),
    "climbing by HTTP/1.0": _request("/stats/prometheus/../../config_dump", version="1.0"),
    "by HTTP/0.9": b"GET /config_dump\r\n\r\n",
    "upgraded to a websocket": _request("/config_dump", more=_UPGRADE),
    "metrics upgraded to a websocket": _request("/stats/prometheus/../../config_dump", more=_UPGRADE),
    "upgraded to HTTP/2": _request("/config_dump", more=_H2C),
    "config_dump by HTTP/2": _over_http2(b"/config_dump"),
    "climbing by HTTP/2": _over_http2(b"/stats/prometheus/../../config_dump"),
    "quitting by HTTP/2": _over_http2(b"/quitquitquit", b"\x83"),
    "method overridden": _request("/quitquitquit", more="X-HTTP-Method-Override: POST\r\n"),
    "path in a header of Envoy's": _request("/", more="X-Envoy-Original-Path: /config_dump\r\n"),
    "second request smuggled in": b"POST /stats/prometheus HTTP/1.1\r\nHost: pod\r\nContent-Length: 6\r\n"
    b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + _request("/config_dump"),
    "second request in the pipeline": _request("/none") + _request("/stats/prometheus/../../config_dump"),
}
"""None of them may be answered with anything but a refusal."""


@dataclass(frozen=True, slots=True)
class RawAnswer:
    text: bytes  # everything that came back until the server was done

    @property
    def statuses(self) -> set[int]:
        return {int(code) for code in re.findall(rb"HTTP/1\.[01] (\d{3})", self.text)}

    @property
    def is_of_the_admin_interface(self) -> bool:
        return ADMIN_WORDS.search(self.text) is not None


async def raw_answer(address: str, port: int, data: bytes) -> RawAnswer:
    reader, writer = await asyncio.open_connection(address, port)
    received = bytearray()
    try:
        async with asyncio.timeout(ANSWER_SECONDS):
            writer.write(data)
            # An answer, then silence: connections are kept, and HTTP/2 has no end that could be seen from here.
            while part := await _next_part(reader, is_first=not received):
                received += part
    except ConnectionError:
        pass  # refused by closing, which is a refusal too
    finally:
        writer.close()
    return RawAnswer(bytes(received))


async def forbidden_answers(address: str, port: int) -> dict[str, RawAnswer]:
    """Of all forbidden requests; a few at a time, since some are answered by silence."""
    room = asyncio.Semaphore(AT_ONCE)

    async def ask(data: bytes) -> RawAnswer:
        async with room:
            return await raw_answer(address, port, data)

    async with asyncio.TaskGroup() as group:
        asked = {name: group.create_task(ask(data)) for name, data in FORBIDDEN.items()}
    return {name: task.result() for name, task in asked.items()}


async def _next_part(reader: asyncio.StreamReader, *, is_first: bool) -> bytes:
    try:
        return await asyncio.wait_for(reader.read(65536), ANSWER_SECONDS if is_first else QUIET_SECONDS)
    except TimeoutError:
        return b""
