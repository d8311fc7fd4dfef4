"""Is this process alive, and may it get traffic? Answered as kubelet's probes and people with curl expect."""

from collections.abc import Callable, Mapping

from aiohttp import web

Check = Callable[[], bool]


def ping() -> bool:
    """Whoever can answer is well: if readiness waited for leadership, a standby would never be ready."""
    return True


def health_app(
    healthz: Mapping[str, Check] | None = None, readyz: Mapping[str, Check] | None = None
) -> web.Application:
    app = web.Application()
    for name, checks in (("healthz", healthz or {"healthz": ping}), ("readyz", readyz or {"readyz": ping})):
        endpoint = _Endpoint(name, checks)
        app.router.add_get(f"/{name}", endpoint.answer_all)
        app.router.add_get(f"/{name}/", endpoint.answer_all)
        app.router.add_get(f"/{name}/{{check}}", endpoint.answer_one)
    return app


class _Endpoint:
    def __init__(self, name: str, checks: Mapping[str, Check]) -> None:
        self._name = name
        self._checks = checks

    async def answer_all(self, request: web.Request) -> web.Response:
        excluded = frozenset(request.query.getall("exclude", []))
        return self._answer(excluded, is_verbose="verbose" in request.query)

    async def answer_one(self, request: web.Request) -> web.Response:
        name = request.match_info["check"]
        if name not in self._checks:
            raise web.HTTPNotFound
        others = frozenset(self._checks) - {name}
        return self._answer(others, is_verbose="verbose" in request.query)

    def _answer(self, excluded: frozenset[str], *, is_verbose: bool) -> web.Response:
        results = {name: check() for name, check in self._checks.items() if name not in excluded}
        is_well = all(results.values())
        if is_well and not is_verbose:
            return _response("ok", status=200)
        lines = [
            f"[+]{name} ok" if passed else f"[-]{name} failed: reason withheld" for name, passed in results.items()
        ]
        summary = f"{self._name} check {'passed' if is_well else 'failed'}"
        return _response("\n".join([*lines, summary, ""]), status=200 if is_well else 500)


def _response(text: str, *, status: int) -> web.Response:
    return web.Response(text=text, status=status, headers={"X-Content-Type-Options": "nosniff"})
