"""A process that dies after every single write: a listener is never open that was not recorded first."""

import asyncio
from collections.abc import Callable
from typing import Final

from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CONFIG_MAPS, SECRETS
from firebolt_operator.refs import Manifest
from tests.api.auth.test_crashes import live_until
from tests.api.engine.clock import SkippingClock
from tests.api.tls.people import ISSUED, MUTUAL, OWN, Owner
from tests.support.cert_manager import CertManager

PLAIN: Final = "plain"
CLOSED: Final = "closed"
LOOSER: Final[Manifest] = {**OWN, "clientCASecretRef": None}  # a patch takes out what is null


async def served(owner: Owner) -> str:
    """What the gateway's pods are given at this moment."""
    if await owner.find(CONFIG_MAPS, "inst-gateway-config") is None:
        return CLOSED
    found = await owner.listeners()
    if "listener" not in found:
        return CLOSED
    socket = found["listener"]
    if socket is None:
        return PLAIN
    return "MutualTLS" if socket["typed_config"].get("require_client_certificate") else "TLS"


async def watch(owner: Owner, seen: list[str]) -> None:
    """Between any two writes: the effect is read first, because its record is there before."""
    while True:
        posture = await served(owner)
        status = (await owner.instance()).status.gateway_tls
        recorded = PLAIN if status is None else status.mode
        if posture != (seen[-1].partition(" ")[0] if seen else ""):
            seen.append(f"{posture} recorded as {recorded}")
        await asyncio.sleep(0.02)


def is_ready(kind: str, reason: str) -> Callable[[FireboltInstance], bool]:
    def judge(instance: FireboltInstance) -> bool:
        found = find_condition(instance.status.conditions, kind)
        is_current = found is not None and found.observed_generation == instance.metadata.generation
        return found is not None and is_current and found.reason == reason

    return judge


def arrived(seen: list[str], posture: str, reason: str) -> Callable[[FireboltInstance], bool]:
    """It is told, and pods are given it."""
    is_told = is_ready("GatewayTLSReady", reason)
    return lambda instance: is_told(instance) and seen[-1].startswith(f"{posture} ")


async def test_every_write_of_a_change_of_posture_may_be_the_last(owner: Owner, simulated_pods: SimulatedPods) -> None:
    del simulated_pods
    clock, seen = SkippingClock(), list[str]()
    await owner.make_certificate()
    await owner.make_client_authority()
    await owner.make_instance()
    async with asyncio.TaskGroup() as group:
        watcher = group.create_task(watch(owner, seen), name="watcher")
        ends = await live_until(owner, clock, is_ready("Ready", "AllComponentsReady"))
        for posture, listener in (("TLS", OWN), ("MutualTLS", MUTUAL), ("TLS", LOOSER), (PLAIN, None)):
            await owner.ask_for(gateway=listener)
            ends += await live_until(owner, clock, arrived(seen, posture, "Ready" if listener else "Disabled"))
        watcher.cancel()
    postures = [each.partition(" ")[0] for each in seen]
    assert postures[-7:] == [PLAIN, CLOSED, "TLS", CLOSED, "MutualTLS", "TLS", PLAIN]
    assert [each for each in seen if each.startswith(("TLS", "Mutual")) and f"as {PLAIN}" in each] == []
    assert ends.count("after the status") >= 8


async def test_every_write_for_the_trust_in_engines_may_be_the_last(
    owner: Owner, cert_manager: CertManager, simulated_pods: SimulatedPods
) -> None:
    del cert_manager, simulated_pods
    clock = SkippingClock()
    await owner.make_instance(tls={"engine": ISSUED})
    ends = await live_until(owner, clock, lambda each: bool(each.status.rolled_engine_trust_cas))
    written = [end for end in ends if "Certificate" in end or "Secret inst-engine" in end or "Deployment" in end]
    assert written[0] == "after applying Certificate inst-engine-tls"
    bundle = written.index("after applying Secret inst-engine-ca-bundle")
    # The gateway that speaks TLS comes after what it mounts.
    assert "after applying Deployment inst-gateway" in written[bundle:]
    assert await owner.upstream() is not None
    assert await owner.find(SECRETS, "inst-engine-ca-bundle") is not None
