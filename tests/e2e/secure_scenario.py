"""What does a test do with an instance that asks for TLS and a login? It verifies, logs in, renews and rotates."""

import asyncio
import base64
import json
import ssl
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from firebolt_local.cluster.cert_manager import CertManager
from firebolt_local.testing.load import Plan, ask, client_session
from firebolt_local.testing.tokens import ENGINE_HEADER, Login
from firebolt_operator.api import names
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import FIREBOLT_INSTANCES, PODS, SECRETS
from firebolt_operator.api.serialise import parse_instance
from firebolt_operator.refs import Manifest
from kubectl_firebolt.picture.answers import Answer
from tests.e2e.scenario import Scenario
from tests.e2e.secured import AUTHORITY, BOTH_LISTENERS, LOGIN, NEVER, PASSWORD

LIMIT_SECONDS = 300.0
AT_ONCE = "1s"
DESCRIPTION, TOKEN, KEYS = "/.well-known/firebolt", "/oauth/token", "/oauth/jwks"


def _knows_nobody() -> ssl.SSLContext:
    """Not even whom the machine trusts."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


@dataclass(slots=True)
class SecureScenario(Scenario):
    manager: CertManager = field(kw_only=True)
    trusted: ssl.SSLContext = field(default_factory=_knows_nobody)

    async def make_instance(self, **spec: Any) -> None:
        """With a login, and TLS unless the spec says otherwise; ready when this is over, and clients know its CA."""
        secured = {"metadata": {}, "gateway": {}, "auth": LOGIN, "tls": BOTH_LISTENERS, **spec}
        await self.make(FIREBOLT_INSTANCES, self.instance, secured)
        await self.until_ready()
        await self.trust_authority()

    async def change_instance(self, spec: Manifest) -> None:
        await self.client.merge_patch(self.ref(FIREBOLT_INSTANCES, self.instance), {"spec": spec})

    async def until_ready(self) -> None:
        def is_ready(instance: FireboltInstance) -> bool:
            found = find_condition(instance.status.conditions, names.CONDITION_READY)
            is_current = found is not None and found.observed_generation == instance.metadata.generation
            return found is not None and is_current and found.status == "True"

        await self.until_instance(is_ready, "the instance to be ready")

    async def until_instance(self, wanted: Callable[[FireboltInstance], Any], what: str) -> FireboltInstance:
        await self.until(lambda: bool((found := self.found_instance()) and wanted(found)), what, seconds=LIMIT_SECONDS)
        found = self.found_instance()
        assert found is not None
        return found

    def found_instance(self) -> FireboltInstance | None:
        found = self.informer.get(FIREBOLT_INSTANCES, self.instance)
        return parse_instance(found) if found else None

    async def set_rotation(self, interval: str) -> None:
        await self.change_instance({"auth": {"local": {"signingKeys": {"rotationInterval": interval}}}})

    async def begin_rotation(self) -> None:
        """One, and not the next one right after it."""
        await self.set_rotation(AT_ONCE)
        await self.until_instance(lambda found: len(key_phases(found)) == 2, "another signing key")
        await self.set_rotation(NEVER)

    # Certificates

    def secret(self, name: str, key: str) -> str:
        """Empty if it is not there."""
        found = self.informer.get(SECRETS, name) or {}
        return base64.b64decode(found.get("data", {}).get(key, "")).decode()

    async def trust_authority(self) -> None:
        """Beside those that clients trust already, from their next connection on."""
        await self.until(lambda: bool(self.secret(AUTHORITY, "tls.crt")), "the CA")
        self.trusted.load_verify_locations(cadata=self.secret(AUTHORITY, "tls.crt"))

    async def renew(self, certificate: str) -> None:
        """Another key and another certificate, which is there when this is over."""
        before = self.secret(certificate, "tls.crt")
        await asyncio.to_thread(self.manager.renew, self.namespace, certificate)
        await self.until(lambda: self.secret(certificate, "tls.crt") not in {"", before}, f"another {certificate}")

    def gateways(self) -> list[Manifest]:
        wanted = {names.LABEL_COMPONENT: names.COMPONENT_GATEWAY, names.LABEL_INSTANCE: self.instance}
        pods = self.informer.of_kind(PODS)
        return [pod for pod in pods if wanted.items() <= pod["metadata"].get("labels", {}).items()]

    async def until_other_gateways(self, than: list[Manifest]) -> None:
        old = {pod["metadata"]["name"] for pod in than}

        def has_rolled() -> bool:
            names_now = {pod["metadata"]["name"] for pod in self.gateways()}
            return bool(names_now) and not names_now & old

        await self.until(has_rolled, "the gateway to be rolled", seconds=LIMIT_SECONDS)
        await self.until_ready()

    async def until_generation(self, engine: str, generation: int, *, replicas: int) -> None:
        def rests() -> bool:
            found = self.informer.engine(engine)
            return found is not None and found.status.active_generation >= generation

        await self.until(rests, f"generation {generation} of {engine}", seconds=LIMIT_SECONDS)
        await self.at_rest(engine, replicas)

    # Queries

    def plan(self, engine: str, *, is_encrypted: bool = True, **fields: Any) -> Plan:
        gateway = urlsplit(self.environment.gateway(self.namespace, self.instance))
        host = f"{names.gateway_name(self.instance)}.{self.namespace}.svc.cluster.local"
        url = f"{'https' if is_encrypted else 'http'}://{host}:{gateway.port}/"
        return self._plan(url, engine, {host: str(gateway.hostname)}, **fields)

    def direct_plan(self, engine: str, **fields: Any) -> Plan:
        """To the pods of the engine, past the gateway."""
        host = f"{names.engine_service_name(engine)}.{self.namespace}.svc.cluster.local"
        generation = self.engine(engine).status.active_generation
        pod = self.informer.all_of(PODS, engine, generation)[0]
        url = f"https://{host}:{names.PORT_QUERY}/"
        return self._plan(url, engine, {host: pod["status"]["podIP"]}, **fields)

    def _plan(self, url: str, engine: str, hosts: dict[str, str], **fields: Any) -> Plan:
        given: dict[str, Any] = {
            "tls": self.trusted,
            "login": Login(url=url, engine=engine, password=PASSWORD),
            **fields,
        }
        return Plan(url=url, engine=engine, hosts=hosts, **given)

    async def ask_with(self, token: str, plan: Plan) -> Answer:
        """With this token and no other; an empty one is none."""
        async with client_session(plan) as session:
            if token:
                session.headers["Authorization"] = f"Bearer {token}"
            return await ask(session, plan, clock=time.monotonic)

    async def get(self, plan: Plan, path: str, **content: Any) -> tuple[int, Any]:
        """Status and JSON; with `data` it is posted."""
        headers = {ENGINE_HEADER: plan.engine}
        method = "POST" if "data" in content else "GET"
        url = f"{plan.url.rstrip('/')}{path}"
        async with client_session(plan) as session, session.request(method, url, headers=headers, **content) as answer:
            text = await answer.text()
            assert text.startswith("{"), f"{path}: HTTP {answer.status}: {text}"
            return answer.status, json.loads(text)

    async def key_ids(self, plan: Plan) -> list[str]:
        """Of the keys that the engine accepts."""
        _, published = await self.get(plan, KEYS)
        return sorted(each["kid"] for each in published["keys"])


def key_phases(instance: FireboltInstance) -> dict[str, str]:
    auth = instance.status.auth
    return {key.id: key.phase for key in auth.signing_keys} if auth else {}
