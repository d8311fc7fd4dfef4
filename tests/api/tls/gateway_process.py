"""The gateway as a process: what a pod would mount is read from the API server, and Envoy started with it."""

import base64
import random
import ssl
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from firebolt_operator.api import names
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.refs import Manifest
from tests.api.tls.people import Owner
from tests.support.dataplane.client import Client
from tests.support.dataplane.dns_server import Zone, serving_dns
from tests.support.dataplane.engine_pod import EnginePod
from tests.support.dataplane.envoy import running_envoy
from tests.support.dataplane.hold_agent import HoldAgent, serving_holds
from tests.support.dataplane.ledger import Ledger
from tests.support.dataplane.relocation import DNS_PORT, relocated

FOLDER = "/etc/envoy/tls/"


@asynccontextmanager
async def running_gateway(owner: Owner, folder: Path, *generations: str) -> AsyncGenerator[Client]:
    """In front of one pod for each of the generations, by the names of their Secrets."""
    await _mount(owner, await owner.gateway(), folder)
    address = f"127.{random.randint(10, 250)}.{random.randint(1, 250)}.1"
    zone, ledger = Zone(), Ledger()
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(serving_dns(zone, address, DNS_PORT, ""))
        await stack.enter_async_context(serving_holds(HoldAgent(), address, names.PORT_WAKE_HOLD, 64))
        pods = [
            EnginePod(f"{address.rpartition('.')[0]}.{number + 2}", ledger, tls=await _served(owner, secret, folder))
            for number, secret in enumerate(generations)
        ]
        for pod in pods:
            await pod.start()
            stack.callback(pod.die)
        zone.set(f"eng-service.{owner.namespace}.svc.cluster.local", *(pod.address for pod in pods))
        await stack.enter_async_context(running_envoy(relocated(await owner.envoy(), address, folder), folder))
        client = Client(address, names.PORT_GATEWAY, tls=await _trusting(owner), host="inst-gateway")
        stack.callback(client.close)
        yield client


async def _texts(owner: Owner, secret: str) -> dict[str, str]:
    found = await owner.read(SECRETS, secret)
    return {key: base64.b64decode(text).decode() for key, text in found["data"].items()}


async def _mount(owner: Owner, deployment: Manifest, folder: Path) -> None:
    pod = deployment["spec"]["template"]["spec"]
    envoy = next(each for each in pod["containers"] if each["name"] == "envoy")
    paths = {each["name"]: each["mountPath"] for each in envoy["volumeMounts"]}
    for volume in (each for each in pod["volumes"] if "secret" in each):
        place = folder / paths[volume["name"]].removeprefix(FOLDER)
        place.mkdir()
        for key, text in (await _texts(owner, volume["secret"]["secretName"])).items():
            (place / key).write_text(text)


async def _served(owner: Owner, secret: str, folder: Path) -> ssl.SSLContext:
    texts = await _texts(owner, secret)
    certificate, key = folder / f"{secret}.crt", folder / f"{secret}.key"
    certificate.write_text(texts["tls.crt"])
    key.write_text(texts["tls.key"])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


async def _trusting(owner: Owner) -> ssl.SSLContext:
    return ssl.create_default_context(cadata=(await _texts(owner, "inst-gateway-tls"))["ca.crt"])
