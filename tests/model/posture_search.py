"""Visits every state of the gateway's listener: what is asked for, what is recorded, and what each pod serves.

A posture is `plain`, `tls`, or `mutual` with a CA; `closed` is a pod without a listener. People change their minds, the
certificate and the clients' CA come and go, and processes die between any two writes.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from firebolt_operator.api.model import LocalRef
from firebolt_operator.api.tls import GatewayTLSStatus, TLSListener
from firebolt_operator.manifests.fingerprints import blob_fingerprint
from firebolt_operator.manifests.issued import Issued, IssuedSecret
from firebolt_operator.tls.decide import gateway_posture
from firebolt_operator.tls.facts import GatewayRollout, GatewayTLSSituation
from tests.model.stories import story
from tests.support.engines import NOON

PLAIN, CLOSED, TLS = "plain", "closed", "tls"
MUTUAL: Final = {1: "mutual-1", 2: "mutual-2"}
LEVELS: Final = {CLOSED: 9, PLAIN: 0, TLS: 1, "mutual-1": 2, "mutual-2": 2}
OPEN_DOOR: Final = "a listener opens while a pod still lets in whom it would refuse"
UNTRUE: Final = "it is called ready while a pod serves something else"
OUTAGE: Final = "queries find no pod although nothing was tightened"
RESTLESS: Final = "what was asked for is never served"
Step = tuple[str, "World"]


class World(NamedTuple):
    wanted: str
    stored: str  # the posture of the status; plain if there is none
    template: str  # of the Deployment
    pods: frozenset[str]
    is_ready: bool = True  # the condition
    has_certificate: bool = True
    has_authority: bool = True  # of clients
    flight: tuple[str, str] | None = None  # one write that is under way: status or gateway, and the posture
    edits_left: int = 2
    outages_left: int = 0


class Configs:
    def __init__(self, wanted: str) -> None:
        self._wanted = wanted

    def config_hash(self, status: GatewayTLSStatus | None, /) -> str:
        return rendered(self._wanted, posture_of(status))


def rendered(wanted: str, stored: str) -> str:
    """What pods are given: a listener without a record is closed, unless plaintext is what was asked for."""
    return CLOSED if stored == PLAIN and wanted != PLAIN else stored


def posture_of(status: GatewayTLSStatus | None) -> str:
    if status is None:
        return PLAIN
    known = {blob_fingerprint(f"CA-{number}"): posture for number, posture in MUTUAL.items()}
    return known[status.client_ca_fingerprint] if status.mode == "MutualTLS" else TLS


def decided(world: World) -> gateway_posture.GatewayTLSPlan:
    number = next((number for number, posture in MUTUAL.items() if posture == world.wanted), 0)
    authority = f"CA-{number}" if number and world.has_authority else ""
    listener = TLSListener(
        enabled=True,
        secret_ref=LocalRef(name="own"),
        client_ca_secret_ref=LocalRef(name="clients") if number else None,
    )
    is_complete = world.pods == frozenset({world.template})
    return gateway_posture.decide_gateway_tls(
        GatewayTLSSituation(
            listener=None if world.wanted == PLAIN else listener,
            status=_status(world.stored),
            now=NOON,
            certificate_name="inst-gateway-tls",
            rollout=GatewayRollout(config_hash=world.template, is_complete=is_complete),
            is_ready=world.is_ready,
            certificate=Issued(secret=_secret("tls.crt", "tls.key") if world.has_certificate else None),
            client_authority=_secret("ca.crt", authority=authority) if authority else None,
        ),
        Configs(world.wanted),
    )


def _status(posture: str) -> GatewayTLSStatus | None:
    if posture == PLAIN:
        return None
    number = next((number for number, each in MUTUAL.items() if each == posture), 0)
    fingerprint = blob_fingerprint(f"CA-{number}") if number else ""
    mode = "MutualTLS" if number else "TLS"
    return GatewayTLSStatus(secret_name="own", created_at=NOON, mode=mode, client_ca_fingerprint=fingerprint)


def _secret(*filled: str, authority: str = "") -> IssuedSecret:
    return IssuedSecret(uid="s", created_at=NOON, filled=frozenset(filled), authority=authority, public_key="fp")


def steps(world: World) -> Iterator[Step]:
    yield from operator_steps(world)
    yield from rollout_steps(world)
    if world.edits_left:
        for wanted in (PLAIN, TLS, *MUTUAL.values()):
            if wanted != world.wanted:
                yield f"{wanted} is asked for", world._replace(wanted=wanted, edits_left=world.edits_left - 1)
    if world.outages_left:
        left = world.outages_left - 1
        yield "the certificate is lost", world._replace(has_certificate=False, outages_left=left)
        yield "the clients' CA is lost", world._replace(has_authority=False, outages_left=left)
    if not world.has_certificate:
        yield "the certificate is back", world._replace(has_certificate=True)
    if not world.has_authority:
        yield "the clients' CA is back", world._replace(has_authority=True)


def operator_steps(world: World) -> Iterator[Step]:
    if world.flight is not None:
        yield "the operator dies", world._replace(flight=None)
        yield landed(world, world.flight)
        return
    plan = decided(world)
    after = world._replace(is_ready=plan.verdict.status == "True")
    flight = next_write(world, posture_of(plan.status))
    if flight is not None or after != world:
        yield f"the instance decides: {plan.verdict.reason}", after._replace(flight=flight)


def next_write(world: World, posture: str) -> tuple[str, str] | None:
    """The record first. Only a pass that finds it as it should be changes the gateway."""
    if posture != world.stored:
        return "status", posture
    template = rendered(world.wanted, world.stored)
    return ("gateway", template) if template != world.template else None


def landed(world: World, flight: tuple[str, str]) -> Step:
    kind, posture = flight
    if kind == "status":
        return f"the status says {posture}", world._replace(stored=posture, flight=None)
    return f"the gateway shall serve {posture}", world._replace(template=posture, flight=None)


def rollout_steps(world: World) -> Iterator[Step]:
    """A closed listener comes after all others have gone; anything else before one of them goes."""
    others = world.pods - {world.template}
    if world.template == CLOSED and others:
        yield "a pod ends", world._replace(pods=world.pods - {min(others)})
    elif world.template not in world.pods:
        yield "a pod starts", world._replace(pods=world.pods | {world.template})
    elif others:
        yield "a pod ends", world._replace(pods=world.pods - {min(others)})


def is_looser(pod: str, than: str) -> bool:
    return LEVELS[pod] < LEVELS[than] or (pod != than and LEVELS[pod] == LEVELS[than] == 2)


class BrokenError(AssertionError):
    """A rule, and how it came to that."""


@dataclass(slots=True)
class Search:
    came_from: dict[World, tuple[World | None, str]] = field(default_factory=dict)

    def run(self, world: World) -> None:
        waiting = deque([world])
        self.came_from[world] = (None, "start")
        while waiting:
            at = waiting.popleft()
            for name, after in steps(at):
                for rule in broken(at, after):
                    raise BrokenError(f"{rule}\n{story(self.came_from, at)}\n  {name}\n    {after}")
                if after not in self.came_from:
                    self.came_from[after] = (at, name)
                    waiting.append(after)

    def check_rest(self) -> None:
        """From every state: what was asked for last is what all pods serve in the end, and it is called ready."""
        ends = set[World]()
        for world in self.came_from:
            path, at = list[World](), world._replace(edits_left=0, outages_left=0)
            at = at._replace(has_certificate=True, has_authority=True)
            while at not in ends and len(path) < 40:
                path.append(at)
                at = next((after for _, after in _calm(at)), at)
                if at == path[-1] and at.pods == frozenset({at.wanted}) and at.is_ready:
                    ends.add(at)
            if at not in ends:
                raise BrokenError(f"{RESTLESS}\n{story(self.came_from, world)}\n{at}")
            ends.update(path)


def _calm(world: World) -> Iterator[Step]:
    if world.flight is not None:
        yield landed(world, world.flight)
    yield from rollout_steps(world)
    yield from operator_steps(world)


def broken(before: World, after: World) -> Iterator[str]:
    opens = after.template if after.template != before.template else CLOSED
    if opens != CLOSED and any(is_looser(pod, opens) for pod in after.pods):
        yield OPEN_DOOR
    is_told = after.is_ready and not before.is_ready and after.wanted != PLAIN
    if is_told and after.pods != frozenset({after.wanted}):
        yield UNTRUE
    if before.pods and not after.pods and after.template != CLOSED:
        yield OUTAGE


def at_rest(posture: str, *, edits_left: int = 0, outages_left: int = 0) -> World:
    pods = frozenset({posture})
    return World(posture, posture, posture, pods, edits_left=edits_left, outages_left=outages_left)


def explored(world: World) -> Search:
    search = Search()
    search.run(world)
    search.check_rest()
    return search
