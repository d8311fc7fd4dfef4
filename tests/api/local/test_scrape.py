"""Does a scrape through the API server meet the pod it names, in the mood it was given?"""

import pytest

from firebolt_local.cluster.scrape import Behaviour, Mode, ScrapeControl
from firebolt_local.cluster.simulated_pods import SimulatedPods
from firebolt_local.errors import LocalError
from tests.support.workloads import Pods, eventually


@pytest.fixture
def pods(scraped_pods: SimulatedPods, namespace: str) -> Pods:
    pods = Pods(scraped_pods.control_plane.http, namespace)
    for name in ("one", "two"):
        pods.create(name)
    eventually(lambda: pods.is_ready("one") and pods.is_ready("two"))
    return pods


def test_given_no_orders_then_pods_are_idle(pods: Pods, scrape: ScrapeControl) -> None:
    status, body = pods.scrape("one")
    assert status == 200
    assert "firebolt_running_queries 0\n" in body
    assert "firebolt_suspended_queries 0\n" in body
    assert scrape.requests() == {pods.get("one")["status"]["podIP"]: 1}


def test_given_an_order_for_one_pod_then_the_other_is_not_touched(pods: Pods, scrape: ScrapeControl) -> None:
    scrape.set(pods.namespace, "one", Behaviour(running=3, suspended=1))
    assert "firebolt_running_queries 3" in pods.scrape("one")[1]
    assert "firebolt_suspended_queries 1" in pods.scrape("one")[1]
    assert "firebolt_running_queries 0" in pods.scrape("two")[1]


def test_given_a_default_then_it_holds_for_pods_without_an_order(pods: Pods, scrape: ScrapeControl) -> None:
    scrape.set_default(Behaviour(running=7))
    scrape.set(pods.namespace, "one", Behaviour())
    assert "firebolt_running_queries 0" in pods.scrape("one")[1]
    assert "firebolt_running_queries 7" in pods.scrape("two")[1]


@pytest.mark.parametrize(
    ("behaviour", "status", "words"),
    [
        pytest.param(Behaviour(mode=Mode.ERROR), 500, "something broke", id="error"),
        pytest.param(Behaviour(mode=Mode.GARBAGE), 200, "not a metric", id="garbage"),
        pytest.param(Behaviour(mode=Mode.REFUSE), 503, "proxy error", id="refused"),
        pytest.param(Behaviour(body="firebolt_running_queries NaN\n"), 200, "NaN", id="any-body"),
    ],
)
def test_given_a_mode_then_the_scrape_meets_it(
    pods: Pods, scrape: ScrapeControl, behaviour: Behaviour, status: int, words: str
) -> None:
    scrape.set(pods.namespace, "one", behaviour)
    answer = pods.scrape("one")
    assert answer[0] == status
    assert words in answer[1]


@pytest.mark.parametrize(
    "behaviour",
    [
        pytest.param(Behaviour(mode=Mode.BLACK_HOLE), id="black-hole"),
        pytest.param(Behaviour(delay_seconds=60), id="slow"),
    ],
)
def test_given_no_answer_in_time_then_the_caller_gives_up_and_others_are_served(
    pods: Pods, scrape: ScrapeControl, behaviour: Behaviour
) -> None:
    scrape.set(pods.namespace, "one", behaviour)
    with pytest.raises(TimeoutError):
        pods.scrape("one", timeout_seconds=0.5)
    assert pods.scrape("two")[0] == 200


def test_given_a_replaced_pod_then_the_order_for_the_old_one_is_not_its_own(pods: Pods, scrape: ScrapeControl) -> None:
    scrape.set(pods.namespace, "one", Behaviour(running=3))
    # Gone with the answer: kwok, which ends pods by name, has no part in it and cannot come late and end the new one.
    pods.http.delete(f"{pods.path}/one?gracePeriodSeconds=0")
    pods.create("one")
    eventually(lambda: pods.is_ready("one"))
    assert "firebolt_running_queries 0" in pods.scrape("one")[1]


def test_given_a_pod_without_an_address_then_the_order_says_so(pods: Pods, scrape: ScrapeControl) -> None:
    pod = pods.get("one")
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeSelector": {"no": "where"}}
    pods.http.create(pods.path, {**pod, "metadata": {"name": "homeless"}, "spec": spec, "status": {}})
    with pytest.raises(LocalError, match="has no address yet"):
        scrape.set(pods.namespace, "homeless", Behaviour(running=3))
