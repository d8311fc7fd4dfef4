"""Every documented case of engine selection; the script alone and a live Envoy must both agree with it."""

from dataclasses import dataclass
from typing import Final

INVALID_HEADER: Final = "invalid X-Firebolt-Engine header"
CONFLICT: Final = "conflicting engine selectors"
MULTIPLE: Final = "multiple engine query parameters"
ENCODING: Final = "invalid engine query parameter encoding"
MISSING: Final = "invalid or missing engine selector"


@dataclass(frozen=True, slots=True)
class Routed:
    path: str
    header: str | None
    engine: str
    sent_path: str


@dataclass(frozen=True, slots=True)
class Refused:
    path: str
    header: str | None
    body: str


LONGEST: Final = "a" * 63
LONGEST_ROUTABLE: Final = "b" * 55  # with `-service` behind it, a DNS label is full
ROUTED: Final = (
    Routed("/", "eng", "eng", "/"),
    Routed("/", LONGEST, LONGEST, "/"),
    Routed("/", LONGEST_ROUTABLE, LONGEST_ROUTABLE, "/"),
    Routed("/", "0", "0", "/"),
    Routed("/?engine=eng", None, "eng", "/"),
    Routed("/?a=1&engine=eng&b=2", None, "eng", "/?a=1&b=2"),
    Routed("/?a=1&&engine=eng", None, "eng", "/?a=1&"),
    Routed("/?engine=eng&", None, "eng", "/"),
    Routed("/sub/path?engine=eng", None, "eng", "/sub/path"),
    Routed("/?engine=my%2Deng", None, "my-eng", "/"),
    Routed("/?engine=my%2deng", None, "my-eng", "/"),
    Routed("/?%65ngine=eng&x=1", None, "eng", "/?x=1"),
    Routed("/?x=%20y+z&engine=eng", None, "eng", "/?x=%20y+z"),
    Routed("/?%zz=1&engine=eng", None, "eng", "/?%zz=1"),
    Routed("/?", "eng", "eng", "/?"),
    Routed("/?engine=eng", "eng", "eng", "/"),
    Routed("/?b=?&engine=eng&c=/", None, "eng", "/?b=?&c=/"),
    Routed("/?a=1", "eng", "eng", "/?a=1"),
    Routed("/engine=other", "eng", "eng", "/engine=other"),
)
REFUSED: Final = (
    Refused("/?engine=eng", "other", CONFLICT),
    Refused("/?engine", "eng", CONFLICT),
    Refused("/?engine=Bad", "eng", CONFLICT),
    Refused("/?engine=eng", "bad.header", INVALID_HEADER),
    *(Refused("/", header, INVALID_HEADER) for header in ("", "Eng", "-eng", "eng-", "-", "a,b", "a" * 64, "a b")),
    *(
        Refused(path, header, MULTIPLE)
        for header in (None, "eng", "bad.header")
        for path in ("/?engine=eng&engine=eng", "/?engine=eng&%65ngine=x", "/?engine=eng&engine=%zz")
    ),
    *(
        Refused(path, header, ENCODING)
        for header in (None, "eng", "bad.header")
        for path in ("/?engine=%zz", "/?engine=%2", "/?engine=%", "/?engine=%zz&engine=a")
    ),
    *(
        Refused(path, None, MISSING)
        for path in (
            "/",
            "/?a=1",
            "/?Engine=eng",
            "/?engine",
            "/?engine=",
            "/?engine=a%2Eb",
            "/?engine=a+b",
            "/?engine=e=f",
            "/?engine=%65%00",
            "/?engine=eng%0d%0aHost:%20evil",
            "/?engine=eng%2F..%2F",
            "/?engine=eng%3A80",
            "/?engine=%C3%A9ng",
            "/eng",
        )
    ),
)
