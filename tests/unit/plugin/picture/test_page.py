"""Does the page stand on its own, say the truth about failures, and let nothing break out of its markup?"""

import re
from dataclasses import replace
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import msgspec
import pytest

from kubectl_firebolt.picture.answers import generation_of_pod
from kubectl_firebolt.picture.page import page, picture
from kubectl_firebolt.picture.recording import Note, Recording
from tests.unit.plugin.picture.sample import a_recording

VOID = {"meta", "link", "img", "br", "hr", "input"}


class Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def markup(text: str) -> Markup:
    parsed = Markup()
    parsed.feed(text)
    assert parsed.open == []
    return parsed


def words(text: str) -> str:
    return re.sub(r"\s+", " ", " ".join(markup(text).words))


@pytest.fixture(scope="module")
def recording() -> Recording:
    return a_recording()


def test_every_element_is_closed_and_nothing_is_fetched(recording: Recording) -> None:
    text = page(recording)
    assert {"script", "link", "img", "iframe", "object"}.isdisjoint(markup(text).seen)
    assert not re.search(r"https?://|@import|url\((?!#)|\bsrc=|\bhref=", text)


def test_the_first_words_are_the_numbers(recording: Recording) -> None:
    assert f"<title>Engine analytics: {len(recording.answers):,} queries, 0 failed</title>" in page(recording)
    assert f"{len(recording.answers):,} queries, 0 failed while an engine went from 2 to 3 nodes" in words(
        page(recording)
    )


def test_failures_are_counted_drawn_and_quoted() -> None:
    text = page(a_recording(failures=3))
    assert "3 failed" in words(text)
    assert "What failed 0:47 HTTP 503: no healthy upstream" in words(text)
    assert 'class="failed"' in text
    assert "no query failed" not in text


def test_without_failures_it_says_so(recording: Recording) -> None:
    assert "no query failed" in page(recording)
    assert 'class="failed"' not in page(recording)


def test_what_people_wrote_stays_text(recording: Recording) -> None:
    hostile = '<script>alert("&")</script>'
    told = replace(recording.told, kicker=hostile, since=hostile, story=hostile, facts=[hostile])
    changed = replace(recording, engine=hostile, told=told, notes=[Note(at=1, text=hostile)])
    assert "script" not in markup(page(changed)).seen
    assert "script" not in markup(page(replace(changed, answers=[]))).seen


def test_the_picture_is_well_formed_and_described_in_words(recording: Recording) -> None:
    root = ET.fromstring(picture(recording))
    described = {element.get("id"): element.text or "" for element in root if element.get("id")}
    assert root.get("role") == "img"
    assert root.get("aria-labelledby") == "picture-title picture-words"
    assert all(step.title in described["picture-words"] for step in recording.steps)


def test_every_pod_and_generation_has_a_name_in_the_picture(recording: Recording) -> None:
    drawn = [element.text for element in ET.fromstring(picture(recording)).iter("text")]
    assert {pod.name for pod in recording.pods} <= set(drawn)
    assert {f"g{span.number}" for span in recording.generations} <= {(text or "").partition(":")[0] for text in drawn}


def test_nothing_is_drawn_outside_of_the_picture(recording: Recording) -> None:
    root = ET.fromstring(picture(recording))
    _, _, width, _ = map(float, (root.get("viewBox") or "").split())
    for element in root.iter("rect"):
        assert (
            0 <= float(element.get("x", 0)) <= float(element.get("x", 0)) + float(element.get("width", 0)) <= width + 1
        )


def test_a_recording_that_was_cut_short_still_has_a_page() -> None:
    full = a_recording()
    empty = replace(full, seconds=0.0, steps=[], phases=[], serving=[], generations=[], pods=[], notes=[], answers=[])
    assert "analytics: 0 generations, 0 pods" in words(page(empty))


def test_where_nobody_asked_there_is_nothing_about_queries(recording: Recording) -> None:
    shown = words(page(replace(recording, answers=[], steps=[])))
    assert "analytics: 5 generations, 11 pods" in shown
    for absent in ("queries,", "latency", "Queries per second", "Failures per second", "Step by step", "while an"):
        assert absent not in shown


def test_a_recording_survives_being_saved(recording: Recording) -> None:
    assert msgspec.json.decode(msgspec.json.encode(recording), type=Recording) == recording


@pytest.mark.parametrize(
    ("pod", "generation"),
    [("analytics-g12-0", 12), ("my-g1-engine-g3-11", 3), ("demo-gateway-5d9-x2", None), ("", None)],
)
def test_generation_of_a_pod(pod: str, generation: int | None) -> None:
    assert generation_of_pod(pod) == generation
