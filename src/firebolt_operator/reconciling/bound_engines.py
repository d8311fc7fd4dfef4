"""How many engines depend on an object? Asked of the server itself: a cache may lag, or be narrowed by a selector."""

import msgspec

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.policy.guards import Guard
from firebolt_operator.refs import Ref


class _Outline(msgspec.Struct, frozen=True):
    metadata: ObjectMeta


async def fetch_bound_engines(guard: Guard, guarded: Ref, reader: Reader) -> int:
    """Of all namespaces, where the object belongs to none.

    An engine that is set aside still shows which class it names; one that does not even do that is counted.
    """
    engines, unknown = list[FireboltEngine](), 0
    async for page in reader.pages(Scope(resource=FIREBOLT_ENGINES, namespace=guarded.namespace)):
        for item in page.items:
            try:
                engine = parse_engine(item)
            except SpecRejectedError:
                unknown += 1
                continue
            if engine.spec is None and isinstance(item, SetAside):
                unknown += 1  # too large to be read at all
            else:
                engines.append(engine)
    return unknown + await _count(guard, guarded, engines, reader)


async def _count(guard: Guard, guarded: Ref, engines: list[FireboltEngine], reader: Reader) -> int:
    bound = guard.bound(guarded, engines)
    if guard.yields_to is None or not bound:
        return len(bound)
    scope = Scope(resource=guard.yields_to, fields=f"metadata.name={guarded.name}")
    elsewhere = {_namespace(item) async for page in reader.pages(scope) for item in page.items}
    return sum(engine.metadata.namespace not in elsewhere for engine in bound)


def _namespace(body: bytes) -> str:
    return msgspec.json.decode(body, type=_Outline).metadata.namespace
