"""How many engines name a class? Asked of the server itself: a cache may lag, or be narrowed by a selector."""

from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.resources import FIREBOLT_ENGINES
from firebolt_operator.api.serialise import parse_engine
from firebolt_operator.errors import SpecRejectedError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.policy.class_checks import count_bound_engines
from firebolt_operator.refs import Ref


async def fetch_bound_engines(engine_class: Ref, reader: Reader) -> int:
    """An engine that is set aside still shows which class it names; one that does not even do that is counted."""
    engines, unknown = list[FireboltEngine](), 0
    async for page in reader.pages(Scope(resource=FIREBOLT_ENGINES, namespace=engine_class.namespace)):
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
    return unknown + count_bound_engines(engine_class, engines)
