"""What is told of lists and watches: from their own counts, and by namespaces that nobody can multiply."""

from firebolt_operator.errors import ForbiddenError
from firebolt_operator.kube.ports import Scope
from firebolt_operator.observability.cache_metrics import CacheMetrics
from firebolt_operator.observability.metrics import Metrics
from firebolt_operator.runtime.coverage import Coverage
from tests.support.manual_clock import idle
from tests.support.series import samples
from tests.unit.runtime.following import Setting, following
from tests.unit.runtime.memory_reader import MemoryReader


class Unwatched(MemoryReader):
    """One namespace may be listed there, and not watched."""

    def _begin(self, verb: str, scope: Scope) -> None:
        super()._begin(verb, scope)
        if scope.namespace == "y" and verb.startswith("watch"):
            raise ForbiddenError("pods is forbidden", status=403)


async def told(metrics: Metrics, place: str) -> dict[str, float]:
    found = await samples(metrics)
    return {
        name.removeprefix("firebolt_operator_").removesuffix(place): value
        for name, value in found.items()
        if name.endswith(place)
    }


def shown(setting: Setting) -> tuple[Metrics, CacheMetrics]:
    metrics = Metrics()
    caches = CacheMetrics(metrics)
    caches.follows("pods", setting.informer)
    return metrics, caches


async def test_given_a_history_that_the_server_forgot_then_the_list_after_it_is_a_relist() -> None:
    reader = MemoryReader()
    reader.put("a")
    async with following(reader) as setting:
        metrics, _ = shown(setting)
        place = "{namespace=*,resource=pods}"
        assert (await told(metrics, place))["relists_total"] == 0
        reader.cut()
        reader.put("b")
        reader.compacted = reader.version
        await setting.clock.advance(3)
        found = await told(metrics, place)
    assert (found["relists_total"], found["watches_total"], found["watches_refused_total"]) == (1, 2, 0)
    assert found["watch_failures_total"] >= 1


async def test_given_a_watch_that_is_not_allowed_then_it_counts_as_refused_in_its_namespace_only() -> None:
    async with following(Unwatched(), Coverage(namespaces=("x", "y"))) as setting:
        metrics, _ = shown(setting)
        await setting.clock.advance(40)
        refused = [
            (await told(metrics, f"{{namespace={namespace},resource=pods}}"))["watches_refused_total"]
            for namespace in ("x", "y")
        ]
    assert refused == [0, 2]  # at once, and after the list half a minute later


async def test_given_passes_put_off_then_only_namespaces_of_the_settings_are_named() -> None:
    async with following(MemoryReader(), Coverage(namespaces=("x", "y"))) as setting:
        metrics, caches = shown(setting)
        for namespace in ("x", *(f"made-up-{number}" for number in range(100))):
            caches.pass_put_off(namespace)
        found = await samples(metrics)
    assert {name: value for name, value in found.items() if "put_off" in name} == {
        "firebolt_operator_passes_put_off_total{namespace=x}": 1,
        "firebolt_operator_passes_put_off_total{namespace=*}": 100,
    }


async def test_given_silence_and_a_refusal_then_age_and_refusal_are_read_at_the_scrape() -> None:
    async with following(MemoryReader()) as setting:
        metrics, _ = shown(setting)
        await setting.clock.advance(70)
        await idle()
        found = await samples(metrics)
    assert found["firebolt_operator_watch_staleness_seconds{resource=pods}"] == 70
    assert found["firebolt_operator_list_refused{namespace=*,resource=pods}"] == 0
