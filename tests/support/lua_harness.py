"""Runs the gateway's script in LuaJIT, which Envoy uses too, with a stand-in for Envoy's request handle."""

from dataclasses import dataclass, field
from typing import Any, Final

from lupa import luajit21

from firebolt_operator.gateway.envoy.script import lua_source
from tests.support.gateways import an_instance, gateway_inputs

HANDLE: Final = """
function(fields, calls)
  local headers = {}
  function headers:get(name) return fields[name] end
  function headers:replace(name, value)
    if calls.has_yielded() then error("headers are dead after the call") end
    fields[name] = value
  end
  local handle = {}
  function handle:headers() return headers end
  function handle:timestamp() return calls.timestamp() end
  function handle:respond(answer, body) calls.respond(answer, body) end
  function handle:httpCall(cluster, request, body, timeout)
    return calls.http_call(cluster, request, timeout)
  end
  return handle
end
"""


@dataclass(frozen=True, slots=True)
class Reply:
    headers: dict[str, str]
    body: str


@dataclass(frozen=True, slots=True)
class HoldCall:
    cluster: str
    path: str
    timeout_ms: int


@dataclass(slots=True)
class Outcome:
    """What became of one request."""

    headers: dict[str, str]
    reply: Reply | None = None
    holds: list[HoldCall] = field(default_factory=list[HoldCall])


class Worker:
    """One Envoy worker: a Lua state that lives on from request to request."""

    def __init__(self, *, wake: bool = False, namespace: str = "ns") -> None:
        self.now_ms = 1_700_000_000_000
        self.agent_says: dict[str, str] | None = {":status": "200", "x-firebolt-wake-decision": "ready"}
        runtime: Any = luajit21.LuaRuntime
        self._lua = runtime(encoding="latin-1", unpack_returned_tuples=True)
        self._lua.execute(lua_source(gateway_inputs(an_instance(namespace=namespace), wake=wake)))
        self._handle = self._lua.eval(HANDLE)

    def request(self, path: str | None, engine: str | None = None) -> Outcome:
        sent = {":authority": "evil.example.com", ":path": path, "x-firebolt-engine": engine}
        fields = self._lua.table_from({name: value for name, value in sent.items() if value is not None})
        outcome = Outcome(headers={})
        handle = self._handle(fields, self._lua.table_from(self._calls(outcome)))
        self._lua.globals()["envoy_on_request"](handle)
        outcome.headers = dict(fields)
        return outcome

    def _calls(self, outcome: Outcome) -> dict[str, Any]:
        def respond(answer: Any, body: str) -> None:
            outcome.reply = Reply(dict(answer), body)

        def http_call(cluster: str, request: Any, timeout: int) -> Any:
            outcome.holds.append(HoldCall(cluster, request[":path"], timeout))
            return None if self.agent_says is None else self._lua.table_from(self.agent_says)

        return {
            "respond": respond,
            "http_call": http_call,
            "timestamp": lambda: self.now_ms,
            "has_yielded": lambda: bool(outcome.holds),
        }
