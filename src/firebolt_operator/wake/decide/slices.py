"""Which engine does an EndpointSlice speak of, and which of its pods are ready?"""

from typing import Final

import msgspec

from firebolt_operator.api import names

SERVICE_LABEL: Final = "kubernetes.io/service-name"
BY_ENGINE: Final = "engine"


class _Conditions(msgspec.Struct, frozen=True, gc=False):
    ready: bool | None = None  # unknown counts as ready, as the API asks of its readers


class _Endpoint(msgspec.Struct, frozen=True, gc=False):
    addresses: list[str] = []
    conditions: _Conditions = _Conditions()

    @property
    def is_ready(self) -> bool:
        return self.conditions.ready is not False


class _Metadata(msgspec.Struct, frozen=True, gc=False):
    labels: dict[str, str] | None = None


class _Slice(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata = _Metadata()
    endpoints: list[_Endpoint] | None = None


class SliceView(msgspec.Struct, frozen=True, gc=False):
    engine: str  # empty if the slice belongs to no engine
    ready_addresses: tuple[str, ...]


_DECODER: Final = msgspec.json.Decoder(_Slice)


def decode_slice(body: bytes) -> SliceView:
    found = _DECODER.decode(body)
    engine = engine_of((found.metadata.labels or {}).get(SERVICE_LABEL, ""))
    ready = (each.addresses for each in found.endpoints or () if engine and each.is_ready)
    return SliceView(engine, tuple(address for addresses in ready for address in addresses))


def engine_of(service: str) -> str:
    """The engine whose Service this is; empty if it is none's."""
    suffix = names.engine_service_name("")
    return service.removesuffix(suffix) if service.endswith(suffix) else ""


def engines_of(view: SliceView) -> tuple[str, ...]:
    """For the cache's index."""
    return (view.engine,) if view.engine else ()
