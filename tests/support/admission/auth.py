"""Instances: authentication, and the rotation of signing keys."""

from typing import Any, Final

from firebolt_operator.refs import Manifest
from tests.support.admission.case import Case, Condition, Without, duplicate, forbidden, invalid, required
from tests.support.admission.components import NEIGHBOURS, accepted, refused, spec

INVALID: Final = Condition(type="AuthReady", reason="AuthSpecInvalid")
TOLERATED: Final = Condition(type="AuthReady", reason="Disabled", status="True", names=())
LOCAL: Final = "spec.auth.local"
KEYS: Final = f"{LOCAL}.signingKeys"
SIZE: Final = f"{KEYS}.certManager.size"
ALGORITHM: Final = f"{LOCAL}.signingAlgorithm"
RETAIN: Final = f"{KEYS}.retainDuration"
PROVIDERS: Final = "spec.auth.oidc.providers"
PASSWORD: Final = f"{LOCAL}.admin.password"


def auth(
    *, key: Manifest | None = None, keys: Manifest | None = None, oidc: Manifest | None = None, **local: Any
) -> Manifest:
    """On and complete, but for what is given: of the key, of the signing keys, of OIDC, of the local part."""
    signing = {"certManager": {"issuerRef": {"name": "ca"}, **(key or {})}, **(keys or {})}
    own = {"admin": {"password": {"name": "admin", "key": "password"}}, "signingKeys": signing, **local}
    given = {"oidc": oidc} if oidc else {}
    return {
        "auth": {"enabled": True, "local": {name: value for name, value in own.items() if value is not None}, **given}
    }


def provider(name: str = "okta", mapping: str = "{{ email }}", **fields: Any) -> Manifest:
    return {"name": name, "discoveryURL": "https://idp.example.com", "usernameMapping": mapping, **fields}


LOGIN: Final[Manifest] = {"discoveryURL": "https://login.example.com"}
ROLE: Final[Manifest] = {"value": "a", "role": "b"}


def without_server(**fields: Any) -> Manifest:
    return {"name": "okta", "usernameMapping": "{{ email }}", **fields}


def two_hops(**fields: Any) -> Manifest:
    exchange = {"discoveryURL": "https://exchange.example.com"}
    return without_server(**({"target": LOGIN, "exchange": exchange} | fields))


def oidc(*providers: Manifest, **fields: Any) -> Manifest:
    preferred = fields.pop("preferred", None)
    document = auth(oidc={"providers": list(providers), **fields})
    if preferred:
        document["auth"]["preferredAuthorizationServer"] = preferred
    return document


def rsa(size: int) -> Manifest:
    return auth(signingAlgorithm="RS256", key={"algorithm": "RSA", "size": size})


def curve(algorithm: str, size: int) -> Manifest:
    return auth(signingAlgorithm=algorithm, key={"size": size})


def rotating(interval: str | None, retained: str | None, **local: Any) -> Manifest:
    given = {"rotationInterval": interval, "retainDuration": retained}
    return auth(keys={name: text for name, text in given.items() if text is not None}, **local)


def good(name: str, document: Manifest, **fields: Any) -> Case:
    return accepted(name, spec(**document), **fields)


def bad(name: str, errors: tuple[str, ...], document: Manifest, without: Without = INVALID) -> Case:
    return refused(name, errors, without, spec(**document))


LOCAL_ROWS: Final = (
    good("authentication off", {"auth": {"enabled": False}}),
    bad(
        "off, with settings",
        forbidden(LOCAL, "spec.auth.oidc", "spec.auth.preferredAuthorizationServer"),
        {"auth": {**oidc(provider(), preferred="okta")["auth"], "enabled": False}},
        TOLERATED,
    ),
    Case(
        id="on, with nothing",
        kind="FireboltInstance",
        spec=spec(auth={"enabled": True}),
        schema="spec.auth.local is required",
    ),
    bad(
        "no password",
        required(f"{PASSWORD}.name", f"{PASSWORD}.key"),
        auth(admin={"password": {"name": "", "key": ""}}),
    ),
    *(
        bad(
            f"the password in {name}",
            forbidden(f"{PASSWORD}.name"),
            auth(admin={"password": {"name": name, "key": "password"}}),
        )
        for name in NEIGHBOURS
    ),
    bad("no signing keys", required(KEYS), auth(signingKeys=None)),
    good("complete", auth()),
    bad("RS256 with a curve", invalid(ALGORITHM), auth(signingAlgorithm="RS256")),
    bad("ES256 with RSA", invalid(ALGORITHM), auth(signingAlgorithm="ES256", key={"algorithm": "RSA", "size": 2048})),
    bad("ES256 with the curve of ES384", invalid(SIZE), auth(signingAlgorithm="ES256")),
    *(
        good(f"{name} with {size}", curve(name, size))
        for name, size in (("ES256", 256), ("ES384", 384), ("ES512", 521))
    ),
    bad("ES512 with 384", invalid(SIZE), curve("ES512", 384)),
    bad("RSA with 384", invalid(SIZE), rsa(384)),
    bad("a curve of 2048", (*invalid(SIZE), *invalid(SIZE)), curve("ES384", 2048)),
    *(good(f"RSA with {size}", rsa(size)) for size in (2048, 4096, 8192)),
    *(bad(f"RSA with {size}", invalid(SIZE), rsa(size)) for size in (1024, 3072, 6144, 8193)),
    good("times of tokens", auth(tokenExpiry="1h", maxTokenAge="1d", clockSkewTolerance="30s")),
    bad("no time at all", invalid(f"{LOCAL}.tokenExpiry"), auth(tokenExpiry="1hr")),
    bad("tokens that expire at once", invalid(f"{LOCAL}.tokenExpiry"), auth(tokenExpiry="0s")),
    bad("tokens of yesterday", invalid(f"{LOCAL}.maxTokenAge"), auth(maxTokenAge="-1d")),
    good("no skew", auth(clockSkewTolerance="0s")),
    Case(id="HS256", kind="FireboltInstance", spec=spec(**auth(signingAlgorithm="HS256")), schema="HS256"),
)
OIDC_ROWS: Final = (
    *(good(f"prefers {name}", oidc(provider(), preferred=name)) for name in ("_local", "okta")),
    bad(
        "prefers a stranger",
        invalid("spec.auth.preferredAuthorizationServer"),
        oidc(provider(), preferred="no-such-provider"),
    ),
    bad(
        "times of foreign tokens",
        invalid("spec.auth.oidc.jwt.clockSkewTolerance", "spec.auth.oidc.jwt.maxTokenAge"),
        oidc(provider(), jwt={"clockSkewTolerance": "not-a-duration", "maxTokenAge": "-1h"}),
    ),
    good("times of a provider", oidc(provider(jwks={"cacheTTL": "1d"}, discovery={"refreshInterval": "1d"}))),
    *(
        bad(
            f"refreshed every {text}",
            invalid(f"{PROVIDERS}[0].discovery.refreshInterval"),
            oidc(provider(discovery={"refreshInterval": text})),
        )
        for text in ("0s", "-1h")
    ),
    good("a provider in two hops", oidc(two_hops())),
    good("roles by a claim", oidc(provider(roleMapping={"claim": "groups", "map": [ROLE]}))),
    *(
        Case(id=name, kind="FireboltInstance", spec=spec(**oidc(each)), schema=text)
        for name, each, text in (
            ("two first servers", provider(target=LOGIN), "set exactly one of discoveryURL or target"),
            ("no first server", without_server(), "set exactly one of discoveryURL or target"),
            ("a server in the clear", two_hops(exchange={"discoveryURL": "http://x"}), "https://"),
            ("no roles", provider(roleMapping={"map": []}), "roleMapping.map"),
            ("a value with two roles", provider(roleMapping={"map": [ROLE, {**ROLE, "role": "c"}]}), "Duplicate value"),
        )
    ),
    bad(
        "two of one name",
        duplicate(f"{PROVIDERS}[1].name"),
        oidc(provider(mapping="{{ iss }}"), provider(mapping="{{ iss }}")),
    ),
    good("one provider by mail", oidc(provider())),
    bad(
        "two providers by mail",
        invalid(f"{PROVIDERS}[0].usernameMapping", f"{PROVIDERS}[1].usernameMapping"),
        oidc(provider("a"), provider("b")),
    ),
    *(
        good(f"two providers by {mapping}", oidc(provider("a", mapping), provider("b", mapping)))
        for mapping in ("{{ iss }}|{{ sub }}", "{{iss}}|{{sub}}", "{{  iss  }}-{{ email }}")
    ),
    *(
        bad(
            f"two providers by {mapping}",
            invalid(f"{PROVIDERS}[0].usernameMapping"),
            oidc(provider("a", mapping), provider("b", "{{ iss }}")),
        )
        for mapping in ("{{ swiss_id }}", "{{ dismissal }}", "{{ email }}@issuer.example.com", "iss", "{{ ISS }}")
    ),
    bad(
        "everybody is the administrator", invalid(f"{PROVIDERS}[0].usernameMapping"), oidc(provider(mapping="firebolt"))
    ),
)
ROTATION_ROWS: Final = (
    bad("rotation that forgets at once", required(RETAIN), rotating("720h", None)),
    bad("retention without rotation", forbidden(RETAIN), rotating(None, "24h")),
    *(
        bad(name, invalid(RETAIN), rotating("720h", retained, **local))
        for name, retained, local in (
            ("keys kept for an hour", "1h", {}),
            ("keys kept shorter than tokens", "24h", {"maxTokenAge": "2d"}),
            ("keys kept 30 s too short", "24h", {}),
            ("keys kept shorter than the skew", "24h0m30s", {"clockSkewTolerance": "5m"}),
        )
    ),
    good("keys kept just long enough", rotating("720h", "24h0m30s")),
    good("keys kept without skew", rotating("720h", "24h", clockSkewTolerance="0s")),
    *(
        bad(f"rotation every {text}", invalid(f"{KEYS}.rotationInterval"), rotating(text, "720h"))
        for text in ("0", "-1h", "often")
    ),
    *(
        bad(
            f"a token age of {age} lowers no floor",
            invalid(RETAIN, f"{LOCAL}.maxTokenAge"),
            rotating("720h", "1h", maxTokenAge=age),
        )
        for age in ("-1d", "0s")
    ),
)


def edit(name: str, before: Manifest, after: Manifest, **fields: Any) -> Case:
    return Case(id=name, kind="FireboltInstance", before=spec(**before), spec=spec(**after), **fields)


EDIT_ROWS: Final = (
    edit("another algorithm", auth(), curve("ES256", 256), schema="signingAlgorithm is immutable once set"),
    edit("another size", rsa(2048), rsa(4096), schema="signing key size is immutable once set"),
    edit("an algorithm left out", rsa(2048), auth(), schema="signingAlgorithm is immutable once set"),
    edit("turned on", {"auth": {"enabled": False}}, curve("ES256", 256)),
    edit("turned off", auth(), {"auth": {"enabled": False}}),
    edit("one server becomes two", oidc(provider()), oidc(two_hops())),
    edit("times of tokens, by an edit", auth(), auth(maxTokenAge="2d")),
)
ROWS: Final = (*LOCAL_ROWS, *OIDC_ROWS, *ROTATION_ROWS, *EDIT_ROWS)
