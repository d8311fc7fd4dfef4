"""The series of metric families that may be found one by one, while nobody may go through them all."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families

from firebolt_operator.observability.metrics import Metrics


class _Unwalkable(dict[Any, Any]):
    def __iter__(self) -> Iterator[Any]:
        pytest.fail("all series were walked through")

    def keys(self) -> Any:
        return iter(self)


@contextmanager
def unwalkable(metrics: object) -> Generator[int]:
    """For all families that are attributes of this object; says how many these are."""
    families: Any = [value for value in vars(metrics).values() if hasattr(value, "_metrics")]
    for family in families:
        family._metrics = _Unwalkable(family._metrics)
    yield len(families)
    for family in families:
        family._metrics = dict(family._metrics.items())


def series_with(registry: CollectorRegistry, text: str) -> list[str]:
    return [line for line in generate_latest(registry).decode().splitlines() if text in line]


async def samples(metrics: Metrics) -> dict[str, float]:
    """Everything that is exposed, as `name{label=value,...}`."""
    text = (await metrics.render()).decode()
    return {
        f"{sample.name}{{{','.join(f'{key}={value}' for key, value in sorted(sample.labels.items()))}}}": sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
