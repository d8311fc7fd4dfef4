"""Which engine does the script pick, and what does it leave of the request?"""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.lua_harness import Outcome, Reply, Worker
from tests.support.selector_vectors import MISSING, MULTIPLE, REFUSED, ROUTED, Refused, Routed

WORKER = Worker()


@pytest.mark.parametrize("case", ROUTED, ids=str)
def test_given_one_engine_when_asked_then_the_request_goes_there(case: Routed) -> None:
    assert WORKER.request(case.path, case.header) == Outcome(
        headers={
            ":authority": f"{case.engine}-service.ns.svc.cluster.local:3473",
            ":path": case.sent_path,
            "x-firebolt-engine": case.engine,
        }
    )


@pytest.mark.parametrize("case", REFUSED, ids=str)
def test_given_no_clear_engine_when_asked_then_the_request_is_refused_untouched(case: Refused) -> None:
    outcome = WORKER.request(case.path, case.header)
    assert outcome.reply == Reply({":status": "400"}, case.body)
    assert outcome.headers[":authority"] == "evil.example.com"
    assert outcome.headers[":path"] == case.path


def test_given_no_path_when_asked_then_the_header_alone_decides() -> None:
    assert WORKER.request(None, "eng").headers[":authority"] == "eng-service.ns.svc.cluster.local:3473"
    assert WORKER.request(None).reply == Reply({":status": "400"}, MISSING)


def test_given_a_huge_query_string_when_asked_then_nothing_is_lost() -> None:
    settings_of_sender = "&".join(f"k{number}=%41{number}" for number in range(10_000))
    outcome = WORKER.request(f"/?{settings_of_sender}&engine=eng")
    assert outcome.headers[":path"] == f"/?{settings_of_sender}"


def test_given_nothing_but_separators_when_asked_then_the_answer_is_quick_and_clear() -> None:
    assert WORKER.request("/?" + "&" * 100_000).reply == Reply({":status": "400"}, MISSING)
    assert WORKER.request("/?" + "engine=a&" * 50_000).reply == Reply({":status": "400"}, MULTIPLE)
    assert WORKER.request("/?engine=" + "%41" * 50_000).reply == Reply({":status": "400"}, MISSING)


def test_when_namespaces_differ_then_so_do_the_hosts() -> None:
    outcome = Worker(namespace="other").request("/", "eng")
    assert outcome.headers[":authority"] == "eng-service.other.svc.cluster.local:3473"


QUERY_STRINGS = st.text(alphabet="engi=&%65+a-?. \x00\x7f\xff", max_size=60)
ENGINES = st.none() | st.text(alphabet="engi-.:A/, \x00\xff", max_size=70)


@settings(max_examples=2000)
@given(query=QUERY_STRINGS, header=ENGINES)
def test_whatever_is_asked_the_script_answers_400_or_sends_to_an_engine_of_its_namespace(
    query: str, header: str | None
) -> None:
    outcome = WORKER.request(f"/?{query}", header)
    if outcome.reply is not None:
        assert outcome.reply.headers == {":status": "400"}
        return
    engine = outcome.headers["x-firebolt-engine"]
    assert outcome.headers[":authority"] == f"{engine}-service.ns.svc.cluster.local:3473"
    assert set(engine) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")
    assert not engine.startswith("-")
    assert not engine.endswith("-")
    assert 1 <= len(engine) <= 63
