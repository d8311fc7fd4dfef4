"""The agent's small pure questions: how many holds fit, which names and slices count, what an end means."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import HelpRequested, UsageError
from firebolt_operator.gateway.wake_agent import wake_agent_container
from firebolt_operator.wake.decide.answers import (
    FLAPPED,
    MISSING,
    RELEASED,
    STOPPED,
    TIMED_OUT,
    UNSYNCED,
    Answer,
    is_engine_name,
)
from firebolt_operator.wake.decide.capacity import HoldLimits, has_room, has_room_for_strangers, hold_cap
from firebolt_operator.wake.decide.slices import SliceView, decode_slice, engine_of, engines_of
from firebolt_operator.wake.envoy_admin import parse_memory
from firebolt_operator.wake.hold_handler import decide_end
from firebolt_operator.wake.holds import Ending
from firebolt_operator.wake.routing import is_routable
from firebolt_operator.wake.settings import parse_agent_settings
from tests.support.gateways import gateway_inputs

MIB, GIB = 1 << 20, 1 << 30
LIMITS = HoldLimits(memory_limit=GIB, per_hold=2 * MIB, fallback=256)
HOST = "eng-service.ns.svc.cluster.local"
CLUSTER = f"DFPCluster:{HOST}:3473"


@pytest.mark.parametrize(
    ("limits", "allocated", "expected"),
    [
        pytest.param(replace(LIMITS, memory_limit=0), None, 256, id="no-limit-known"),
        pytest.param(replace(LIMITS, per_hold=0), 1, 256, id="no-size-known"),
        pytest.param(replace(LIMITS, memory_limit=0, fallback=-1), None, -1, id="any-number"),
        pytest.param(replace(LIMITS, memory_limit=512 * MIB), None, 64, id="half-a-gibibyte"),
        pytest.param(LIMITS, None, 128, id="a-gibibyte"),
        pytest.param(replace(LIMITS, memory_limit=2 * GIB), None, 256, id="two-gibibytes"),
        pytest.param(LIMITS, GIB // 4, 128, id="a-quarter-used-costs-nothing"),
        pytest.param(LIMITS, GIB * 3 // 8, 64, id="half-way"),
        pytest.param(LIMITS, GIB // 2, 0, id="half-used-holds-nothing"),
        pytest.param(LIMITS, GIB, 0, id="full"),
        pytest.param(replace(LIMITS, per_hold=1), None, 100_000, id="never-more-than-that"),
    ],
)
def test_cap(limits: HoldLimits, allocated: int | None, expected: int) -> None:
    assert hold_cap(limits, allocated) == expected


def test_given_a_cap_when_asked_then_zero_is_none_and_negative_is_any_number() -> None:
    cases = ((0, 0), (10**6, -1), (2, 3), (3, 3))
    assert [has_room(held, 0, cap) for held, cap in cases] == [False, True, True, False]


@pytest.mark.parametrize(
    ("of_engine", "cap", "expected"),
    [(127, 256, True), (128, 256, False), (10**6, -1, True), (0, 1, True), (1, 2, False), (1, 3, False)],
)
def test_one_engine_takes_at_most_half(of_engine: int, cap: int, expected: bool) -> None:
    assert has_room(of_engine, of_engine, cap) is expected


@pytest.mark.parametrize(
    ("held", "cap", "expected"), [(63, 256, True), (64, 256, False), (10**6, -1, True), (0, 1, True), (1, 7, False)]
)
def test_strangers_take_at_most_a_quarter(held: int, cap: int, expected: bool) -> None:
    assert has_room_for_strangers(held, cap) is expected


@pytest.mark.parametrize("name", ["analytics", "engine-01", "e", "x" * 63, "0"])
def test_names_of_engines(name: str) -> None:
    assert is_engine_name(name)


@pytest.mark.parametrize(
    "name",
    ["", "Analytics", "engine.other-ns", "-engine", "engine-", "my_engine", "engine/../admin", "x" * 64, "a\n", "ä"],
)
def test_names_of_none(name: str) -> None:
    assert not is_engine_name(name)


@pytest.mark.parametrize(
    ("service", "engine"),
    [
        ("eng-service", "eng"),
        ("a-service-service", "a-service"),
        ("-service", ""),
        ("service", ""),
        ("eng", ""),
        ("", ""),
    ],
)
def test_the_engine_of_a_service(service: str, engine: str) -> None:
    assert engine_of(service) == engine


def a_slice(*endpoints: object, service: str | None = "eng-service") -> bytes:
    labels = {} if service is None else {"labels": {"kubernetes.io/service-name": service}}
    return json.dumps({"metadata": {"name": "s", **labels}, "endpoints": list(endpoints) or None}).encode()


@pytest.mark.parametrize(
    ("body", "view"),
    [
        pytest.param(a_slice(), SliceView("eng", ()), id="nothing-in-it"),
        pytest.param(
            a_slice({"addresses": ["10.0.0.1"], "conditions": {"ready": True}}),
            SliceView("eng", ("10.0.0.1",)),
            id="ready",
        ),
        pytest.param(
            a_slice({"addresses": ["10.0.0.1"], "conditions": {}}), SliceView("eng", ("10.0.0.1",)), id="unset-is-ready"
        ),
        pytest.param(
            a_slice({"addresses": ["10.0.0.1"], "conditions": {"ready": False, "serving": True}}),
            SliceView("eng", ()),
            id="not-ready",
        ),
        pytest.param(a_slice({"addresses": ["10.0.0.1"]}, service="web"), SliceView("", ()), id="somebody-else's"),
        pytest.param(a_slice({"addresses": ["10.0.0.1"]}, service=None), SliceView("", ()), id="nobody's"),
    ],
)
def test_slices(body: bytes, view: SliceView) -> None:
    assert decode_slice(body) == view


@pytest.mark.parametrize(
    ("ending", "is_ready", "is_synced", "expected"),
    [
        pytest.param(Ending.RELEASED, True, True, RELEASED, id="came"),
        pytest.param(Ending.RELEASED, False, True, FLAPPED, id="came-and-went"),
        pytest.param(Ending.EXPIRED, True, True, RELEASED, id="came-at-the-last-moment"),
        pytest.param(Ending.EXPIRED, False, True, TIMED_OUT, id="never-came"),
        pytest.param(Ending.MISSING, False, True, MISSING, id="no-such-engine"),
        pytest.param(Ending.MISSING, True, True, RELEASED, id="deleted-while-it-runs"),
        pytest.param(Ending.STOPPED, False, True, STOPPED, id="stopped"),
        pytest.param(Ending.EXPIRED, False, False, UNSYNCED, id="nobody-could-see-it-come"),
        pytest.param(Ending.MISSING, False, False, MISSING, id="no-such-engine-whatever-is-seen-of-others"),
    ],
)
def test_ends(ending: Ending, is_ready: bool, is_synced: bool, expected: Answer) -> None:
    assert decide_end(ending, is_ready=is_ready, is_synced=is_synced) == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        pytest.param("", True, id="no-cluster-yet"),
        pytest.param(f"DFPCluster:xeng-service.ns.svc.cluster.local:3473::1::2\n{CLUSTER}0::x", True, id="others-only"),
        pytest.param(f"{CLUSTER}::added_via_api::true", False, id="no-host-yet"),
        pytest.param(f"{CLUSTER}::10.0.0.1:3473::health_flags::/failed_active_hc", False, id="not-healthy-yet"),
        pytest.param(f"{CLUSTER}::10.0.0.9:3473::health_flags::healthy", False, id="another-pod"),
        pytest.param(f"{CLUSTER}::10.0.0.1:3473::health_flags::healthy", True, id="healthy"),
        pytest.param(f"{CLUSTER}::[fd00::1]:3473::health_flags::healthy", True, id="version-6"),
    ],
)
def test_what_envoy_says_of_its_clusters(lines: str, expected: bool) -> None:
    assert is_routable(lines, HOST, ["10.0.0.1", "fd00:0::1"]) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("server.memory_allocated: 123\n", 123),
        ("server.memory_allocated_x: 1\nserver.memory_allocated: 2", 2),
        ("server.memory_allocated: many", None),
        ("", None),
    ],
)
def test_what_envoy_says_of_its_memory(text: str, expected: int | None) -> None:
    assert parse_memory(text) == expected


POD = {"POD_NAMESPACE": "ns", "ENVOY_MEMORY_LIMIT_BYTES": "1073741824"}


def test_given_the_rendered_sidecar_when_its_words_are_parsed_then_they_mean_what_it_says() -> None:
    command, *words = wake_agent_container(gateway_inputs(wake=True), {})["args"]
    settings = parse_agent_settings(words, POD)
    assert command == "wake-agent"
    assert (settings.namespace, settings.hold_port, settings.metrics_port) == ("ns", 9902, 9903)
    assert settings.envoy_admin_url == "http://127.0.0.1:9901"
    assert (settings.limits, settings.hold_timeout) == (LIMITS, timedelta(minutes=2))
    assert settings.drain_timeout == timedelta(seconds=15)


@pytest.mark.parametrize(
    ("words", "environment", "limits"),
    [
        pytest.param([], {"POD_NAMESPACE": "ns"}, HoldLimits(memory_limit=0, per_hold=0, fallback=256), id="defaults"),
        pytest.param(
            ["--fallback-hold-cap=0"],
            POD | {"ENVOY_MEMORY_LIMIT_BYTES": "1Gi"},
            HoldLimits(memory_limit=0, per_hold=0, fallback=256),
            id="zero-is-unset-and-nonsense-is-unknown",
        ),
        pytest.param(
            ["--fallback-hold-cap", "-1", "--envoy-memory-limit-bytes=7"],
            POD,
            HoldLimits(memory_limit=7, per_hold=0, fallback=-1),
            id="any-number-and-the-flag-wins",
        ),
    ],
)
def test_limits_from_words(words: list[str], environment: dict[str, str], limits: HoldLimits) -> None:
    assert parse_agent_settings(words, environment).limits == limits


@pytest.mark.parametrize(
    ("words", "environment", "error"),
    [
        ([], {}, ConfigurationError),
        (["--hold-timeout=1d"], POD, UsageError),
        (["--hold-timeout=-1s"], POD, UsageError),
        (["--drain-timeout=soon"], POD, UsageError),
        (["--drain-timeout=-1s"], POD, UsageError),
        (["--hold-port=x"], POD, UsageError),
        (["--hold-port=70000"], POD, UsageError),
        (["--demand-port=9903"], POD, UsageError),
        (["--zap-encoder=xml"], POD, UsageError),
        (["--help"], POD, HelpRequested),
    ],
)
def test_words_that_make_no_sense(words: list[str], environment: dict[str, str], error: type[Exception]) -> None:
    with pytest.raises(error):
        parse_agent_settings(words, environment)


def test_given_a_hold_timeout_of_nothing_then_it_is_the_default() -> None:
    assert parse_agent_settings(["--hold-timeout=0"], POD).hold_timeout == timedelta(minutes=2)


def test_slices_of_other_services_are_listed_for_no_engine() -> None:
    body = b'{"metadata": {"labels": {"kubernetes.io/service-name": "%s"}}, "endpoints": []}'
    assert engines_of(decode_slice(body % b"eng-service")) == ("eng",)
    assert engines_of(decode_slice(body % b"postgres")) == ()
