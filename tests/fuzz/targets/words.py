"""Short texts with a meaning: durations, amounts, times, zones, images, selectors."""

import random
from datetime import UTC, datetime
from fractions import Fraction
from typing import Final

from firebolt_operator.api.durations import format_duration, parse_duration, parse_engine_duration
from firebolt_operator.api.quantities import canonical_quantity, parse_quantity
from firebolt_operator.api.time_zones import time_zone
from firebolt_operator.engine.decide.autostop import parse_wake_request
from firebolt_operator.engine.decide.schedule import minute_of_day
from firebolt_operator.engine.views import generation_number
from firebolt_operator.errors import ConfigurationError
from firebolt_operator.manifests.images import ALWAYS, engine_pull_policy, image_tag, workload_pull_policy
from firebolt_operator.policy.protected_secrets import is_database_claim, is_protected
from firebolt_operator.runtime.selectors import Selector, parse_selector
from firebolt_operator.wake.decide.answers import is_engine_name
from tests.fuzz.mutation import composed, texts
from tests.fuzz.target import Target, anything, is_known

NOW: Final = datetime(2026, 3, 29, 1, 30, tzinfo=UTC)  # an hour that does not exist in half of Europe
LABELS: Final = {"team": "a", "n": "7", "big": "9" * 63, "kubernetes.io/name": ""}


def _number(rng: random.Random) -> str:
    whole = str(rng.randrange(10 ** rng.choice((1, 2, 4, 9, 19))))
    return rng.choice((whole, f"{whole}.{rng.randrange(10**6)}", f"{whole}.", f".{whole}", f"0{whole}"))


def _duration(rng: random.Random) -> str:
    units = ("ns", "us", "\u00b5s", "\u03bcs", "ms", "s", "m", "h", "d")
    parts = (f"{_number(rng)}{rng.choice(units)}" for _ in range(rng.choice((1, 1, 2, 4))))
    return rng.choice(("", "", "-", "+")) + "".join(parts)


def _quantity(rng: random.Random) -> str:
    suffixes = ("", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-9", "e64")
    return rng.choice(("", "", "-", "+")) + _number(rng) + rng.choice(suffixes)


def instant(rng: random.Random) -> str:
    date = f"{rng.choice((1, 1969, 2026, 9999)):04}-{rng.randrange(1, 13):02}-{rng.randrange(1, 32):02}"
    clock = f"{rng.randrange(25):02}:{rng.randrange(60):02}:{rng.randrange(61):02}"
    zone = rng.choice(("Z", "Z", "+00:00", "+23:59", "-23:59", "-14:00", "", "+24:00", "+01:30:15", "z"))
    return date + rng.choice(("T", "T", "T", " ", "t")) + clock + rng.choice(("", "", ".123", ".1234567891")) + zone


def _image(rng: random.Random) -> str:
    host = rng.choice(("", "", "registry.example/", "localhost:5000/", "[::1]:5000/", "h:80/"))
    path = "/".join(rng.choice(("engine", "a__b", "my-org", "x.y", "0")) for _ in range(rng.choice((1, 2, 3))))
    tag = rng.choice(("", ":latest", ":dev", ":v1.2.3", ":" + "t" * 128))
    return host + path + tag + rng.choice(("", "", "@sha256:" + "a" * 64, "@sha512:" + "0f" * 64))


def _requirement(rng: random.Random) -> str:
    key = rng.choice(("team", "n", "big", "kubernetes.io/name", "a.b/c-d"))
    values = ",".join(rng.choice(("a", "", "b-c", "7")) for _ in range(rng.choice((1, 2, 3))))
    number = rng.choice(("7", "-1", "+3", "9" * 70))
    return rng.choice(
        (key, f"!{key}", f"{key}=a", f"{key} in ({values})", f"{key} notin ({values})", f"{key}>{number}")
    )


def _selector(rng: random.Random) -> str:
    return rng.choice((",", ", ")).join(_requirement(rng) for _ in range(rng.choice((1, 2, 4))))


def _read_duration(text: str) -> object:
    duration = parse_duration(text)
    assert parse_duration(format_duration(duration)) == duration
    assert parse_engine_duration(text) == duration
    return duration


def _read_quantity(text: str) -> Fraction:
    amount = parse_quantity(text)
    assert parse_quantity(canonical_quantity(text)) == amount
    return amount


def _read_wake_request(text: str) -> datetime | None:
    instant = parse_wake_request(text)
    assert instant is None or (instant.tzinfo is UTC and parse_wake_request(instant.isoformat()) == instant)
    return instant


def _read_image(image: str) -> str:
    tag = image_tag(image)
    policies = engine_pull_policy(image), workload_pull_policy(image)
    # Two grammars, one meaning: a tag that moves is pulled by both.
    assert tag not in {"latest", "dev"} or "@" in image or policies == (ALWAYS, ALWAYS)
    return tag


def _read_selector(text: str) -> Selector:
    selector = parse_selector(text)
    selector.matches(LABELS)
    selector.matches({})
    return selector


def _read_time_zone(name: str) -> object:
    zone = time_zone(name)
    return zone and (str(zone), NOW.astimezone(zone).isoformat())


def _read_secret_name(name: str) -> bool:
    return is_protected(name, frozenset({"mine"})) or is_database_claim(name)


ZONES: Final = ("UTC", "Europe/Zurich", "America/Argentina/Ushuaia", "Etc/GMT+12", "Asia/Kathmandu", "posixrules")
NO_ZONES: Final = ("America", "", ".", "..", "tzdata.zi", "__init__.py", "__pycache__", "zone.tab", "/etc/passwd")
CLOCK_TIMES: Final = ("00:00", "23:59", "08:30", "24:00", "7:00", "12:60")
SECRETS: Final = (
    "mine",
    "eng-g4-engine-tls",
    "inst-auth-signing-a",
    "inst-metadata-postgres-creds",
    "data-inst-metadata-pg-0",
)

TARGETS: Final = (
    Target(
        name="durations", make=composed(_duration), read=_read_duration, refusals=(ValueError,), is_accepted=anything
    ),
    Target(
        name="engine durations",
        make=composed(_duration),
        read=parse_engine_duration,
        refusals=(ValueError,),
        is_accepted=anything,
    ),
    Target(
        name="quantities", make=composed(_quantity), read=_read_quantity, refusals=(ValueError,), is_accepted=anything
    ),
    Target(name="wake annotations", make=composed(instant), read=_read_wake_request),
    Target(name="time zones", make=texts(ZONES + NO_ZONES), read=_read_time_zone, findings=["__init__/x"]),
    Target(name="schedules", make=texts(CLOCK_TIMES), read=minute_of_day, is_accepted=is_known),
    Target(name="images", make=composed(_image), read=_read_image),
    Target(name="selectors", make=composed(_selector), read=_read_selector, refusals=(ConfigurationError,)),
    Target(
        name="generation labels",
        make=texts(("0", "1", "42", "007")),
        read=generation_number,
        is_accepted=is_known,
        findings=["9" * 5_000],  # Python makes no number of so many digits
    ),
    Target(name="engine names", make=texts(("eng", "my-engine-2", "a" * 63, "0")), read=is_engine_name),
    Target(name="names of Secrets and claims", make=texts(SECRETS), read=_read_secret_name),
)
