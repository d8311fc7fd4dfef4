"""What a test lets Envoy's admin listener and the cluster's DNS say."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from aiohttp import web

from firebolt_operator.runtime.servers import BindAddress
from firebolt_operator.wake.server import serving


@dataclass(slots=True)
class EnvoyStandIn:
    clusters: str = ""
    allocated: int = 0
    hosts: set[str] = field(default_factory=set[str])  # names that resolve
    url: str = ""
    questions: list[str] = field(default_factory=list[str])

    async def resolve(self, host: str) -> bool:
        return host in self.hosts

    def app(self) -> web.Application:
        async def stats(_: web.Request) -> web.Response:
            return web.Response(text=f"server.memory_allocated: {self.allocated}\n")

        async def clusters(request: web.Request) -> web.Response:
            self.questions.append(request.query["filter"])
            return web.Response(text=self.clusters)

        async def ready(_: web.Request) -> web.Response:
            self.questions.append("ready")
            return web.Response(text="LIVE")

        app = web.Application()
        app.router.add_get("/ready", ready)
        app.router.add_get("/stats", stats)
        app.router.add_get("/clusters", clusters)
        return app


@asynccontextmanager
async def an_envoy() -> AsyncGenerator[EnvoyStandIn]:
    envoy = EnvoyStandIn()
    async with serving(envoy.app(), BindAddress("127.0.0.1", 0)) as port:
        envoy.url = f"http://127.0.0.1:{port}"
        yield envoy
