from datetime import timedelta

import pytest

from firebolt_operator.errors import ConfigurationError
from firebolt_operator.flags import HelpRequested, UsageError
from firebolt_operator.observability.logs import parse_level
from firebolt_operator.settings import FLAGS, parse_settings


def test_given_no_words_then_defaults_hold() -> None:
    settings = parse_settings([], {})
    assert (settings.namespaces, settings.metrics.bind_address, settings.health_probe_bind_address) == (
        (),
        "0",
        ":8081",
    )
    assert settings.drain_settle == timedelta(seconds=35)
    assert settings.images.engine == "ghcr.io/firebolt-db/engine:release-5.0.1-0.20260713060957.513515666721"


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--namespaces=a,b"], id="two-dashes-and-equals"),
        pytest.param(["-namespaces", "a,b"], id="one-dash-and-a-word"),
        pytest.param(["--namespaces=x", "--namespaces", " a , b ,"], id="the-last-one-wins-and-blanks-do-not-count"),
    ],
)
def test_flag_grammar(words: list[str]) -> None:
    assert parse_settings(words, {}).namespaces == ("a", "b")


@pytest.mark.parametrize(("text", "expected"), [("t", True), ("FALSE", False), ("1", True), ("0", False)])
def test_booleans_take_their_value_after_equals(text: str, expected: bool) -> None:
    assert parse_settings([f"--leader-elect={text}"], {}).leader_elect is expected


def test_a_bare_boolean_is_true() -> None:
    assert parse_settings(["--leader-elect", "--namespaces=a"], {}).leader_elect is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--leader-elect", "false"], r'"false": write --leader-elect=false$', id="boolean"),
        pytest.param(["--namespaces=a", "b", "--namespaces=c"], r'"b"$', id="word"),
        pytest.param(["--", "--namespaces=c"], '"--"', id="two-dashes"),
        pytest.param(["-"], '"-"', id="dash"),
        pytest.param([""], '""', id="empty"),
    ],
)
def test_a_word_that_belongs_to_no_flag_is_a_usage_error(words: list[str], said: str) -> None:
    with pytest.raises(UsageError, match=f"unexpected argument {said}"):
        parse_settings(words, {})


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--leader-elect=maybe"], id="not-a-boolean"),
        pytest.param(["--no-such-flag"], id="unknown"),
        pytest.param(["--namespaces"], id="no-value"),
        pytest.param(["--zap-encoder=xml"], id="not-an-encoder"),
        pytest.param(["--zap-log-level=0"], id="zero-is-no-level"),
        pytest.param(["--zap-log-level=loud"], id="not-a-level"),
        pytest.param(["--zap-stacktrace-level=debug"], id="not-a-stacktrace-level"),
        pytest.param(["--zap-time-encoding=sundial"], id="not-a-time-encoding"),
        pytest.param(["--concurrent-passes=0"], id="somebody-must-work"),
        pytest.param(["--concurrent-passes=many"], id="not-a-number"),
        pytest.param(["--engine-max-replicas=0"], id="somebody-must-serve"),
        pytest.param(["--engine-max-replicas=1001"], id="more-than-the-crd-allows"),
    ],
)
def test_bad_words_are_a_usage_error(words: list[str]) -> None:
    with pytest.raises(UsageError, match=words[0].removeprefix("--").partition("=")[0]):
        parse_settings(words, {})


@pytest.mark.parametrize("text", ["-1s", "soon"])
def test_a_bad_drain_settle_names_the_flag_and_the_value(text: str) -> None:
    with pytest.raises(ConfigurationError, match=f'--drain-settle "{text}"'):
        parse_settings([f"--drain-settle={text}"], {})


def test_the_environment_changes_an_image_and_a_flag_wins_over_it() -> None:
    environment = {"FIREBOLT_ENGINE_IMAGE": "mine:1"}
    assert parse_settings([], environment).images.engine == "mine:1"
    assert parse_settings(["--engine-image=yours:2"], environment).images.engine == "yours:2"


def test_an_explicit_empty_metrics_address_is_the_plain_default_port() -> None:
    assert parse_settings(["--metrics-bind-address="], {}).metrics.bind_address == ":8080"


@pytest.mark.parametrize("level", ["debug", "info", "error", "3"])
def test_log_levels(level: str) -> None:
    assert parse_settings([f"--zap-log-level={level}"], {}).logs.level == parse_level(level)


def test_development_logs_to_the_console_and_explicit_values_win() -> None:
    assert parse_settings(["--zap-devel"], {}).logs.encoder == "console"
    assert parse_settings(["--zap-devel", "--zap-encoder=JSON"], {}).logs.encoder == "json"


def test_help_is_not_an_error() -> None:
    with pytest.raises(HelpRequested):
        parse_settings(["-h"], {})


def test_every_flag_says_what_it_is_for() -> None:
    assert [flag.name for flag in FLAGS if not flag.help] == []


OWN = [
    "--enable-webhooks",
    "--webhook-secret=ops/cert",
    "--webhook-configuration=ours",
    "--webhook-names=a.svc,127.0.0.1",
]


def test_webhooks_are_off_until_asked_for() -> None:
    assert parse_settings([], {}).webhooks is None
    settings = parse_settings(OWN, {}).webhooks
    assert settings is not None
    assert (settings.secret, settings.configuration) == (("ops", "cert"), "ours")
    assert (settings.names, settings.cert_life) == (("a.svc", "127.0.0.1"), timedelta(days=90))
    files = parse_settings(["--enable-webhooks", "--webhook-cert-path=/certs"], {}).webhooks
    assert files is not None
    assert (files.cert_path, files.cert_name, files.bind_address) == ("/certs", "tls.crt", ":9443")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["--enable-webhooks"], "needs a certificate", id="no-certificate"),
        pytest.param([*OWN, "--webhook-names="], "needs a certificate", id="no-names"),
        pytest.param([*OWN, "--webhook-secret=cert"], "want NAMESPACE/NAME", id="no-namespace"),
        pytest.param([*OWN, "--webhook-cert-life=0"], "must be positive", id="no-life"),
        pytest.param([*OWN, "--webhook-cert-life=90d"], "not a duration", id="days"),
    ],
)
def test_webhooks_that_could_not_be_served_end_the_start(words: list[str], said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        parse_settings(words, {})
