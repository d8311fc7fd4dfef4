"""Authentication settings of an instance."""

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from firebolt_operator.api.model import Duration, EngineDuration, Instant, Int32, Model, note, rule
from firebolt_operator.api.tls import CertManagerSpec

ALGORITHM_RULE = rule(
    "self == oldSelf || oldSelf == ''",
    "signingAlgorithm is immutable once set; recreate the instance to change the JWT signing algorithm",
)
SIZE_RULE = rule(
    "self.size == oldSelf.size || oldSelf.size == 0",
    "signing key size is immutable once set; recreate the instance to change it",
)
PROVIDER_RULE = rule(
    "has(self.discoveryURL) != has(self.target)",
    "set exactly one of discoveryURL or target: the flat discoveryURL is sugar for target.discoveryURL",
)
HTTPS = r"^https://.+"
MOST_MAPPING = 1024  # characters; claims are looked for in it


class SecretKeySelector(Model, frozen=True, kw_only=True):
    name: Annotated[str, note("Name of the Secret.", default="")] = ""
    key: Annotated[str, note("Key inside the Secret.")]
    optional: Annotated[bool | None, note("Accepted and ignored.")] = None


class AdminSpec(Model, frozen=True, kw_only=True):
    name: Annotated[str, note("User name of the administrator.", default="firebolt")] = "firebolt"
    password: Annotated[
        SecretKeySelector, note("Where the administrator's password is.", **{"x-kubernetes-map-type": "atomic"})
    ]


class SigningKeysSpec(Model, frozen=True, kw_only=True):
    cert_manager: Annotated[
        CertManagerSpec, note("How signing keys are issued.", **{"x-kubernetes-validations": [SIZE_RULE]})
    ]
    rotation_interval: Annotated[Duration | None, note("How often the signing key is replaced.")] = None
    retain_duration: Annotated[Duration | None, note("How long a replaced key still validates tokens.")] = None


class LocalAuthSpec(Model, frozen=True, kw_only=True):
    password_login: Annotated[
        Literal["admin_only", "any_user"], note("Who may log in with a password.", default="admin_only")
    ] = "admin_only"  # noqa: S105 - a mode, not a password
    admin: Annotated[AdminSpec, note("The administrator.")]
    signing_algorithm: Annotated[
        Literal["RS256", "RS384", "RS512", "ES256", "ES384", "ES512"],
        note("How tokens are signed.", default="ES384", **{"x-kubernetes-validations": [ALGORITHM_RULE]}),
    ] = "ES384"
    token_expiry: Annotated[EngineDuration, note("Lifetime of a token, for example 1h or 1d.")] = ""
    max_token_age: Annotated[EngineDuration, note("Oldest token that is accepted.")] = ""
    clock_skew_tolerance: Annotated[EngineDuration, note("How far clocks may differ.")] = ""
    signing_keys: Annotated[SigningKeysSpec | None, note("The keys that tokens are signed with.")] = None


class OIDCJwtSpec(Model, frozen=True, kw_only=True):
    clock_skew_tolerance: Annotated[EngineDuration, note("How far clocks may differ.")] = ""
    max_token_age: Annotated[EngineDuration, note("Oldest token that is accepted.")] = ""


class JitProvisioning(Model, frozen=True, kw_only=True):
    enabled: Annotated[bool, note("Creates users when they first log in.", default=False)] = False
    default_roles: Annotated[list[str], note("Roles of such users.")] = []


class JwksSpec(Model, frozen=True, kw_only=True):
    cache_ttl: Annotated[EngineDuration, note("How long the provider's keys are kept.")] = msgspec.field(
        default="", name="cacheTTL"
    )


class DiscoverySpec(Model, frozen=True, kw_only=True):
    refresh_interval: Annotated[EngineDuration, note("How often the provider's settings are read again.")] = ""


class TargetServer(Model, frozen=True, kw_only=True):
    discovery_url: Annotated[
        str, Meta(min_length=1, pattern=HTTPS), note("Discovery document of the server that people log in at.")
    ] = msgspec.field(name="discoveryURL")
    token_endpoint_auth_method: Annotated[str, note("How clients prove who they are at its token endpoint.")] = ""


class ExchangeServer(Model, frozen=True, kw_only=True):
    discovery_url: Annotated[
        str, Meta(min_length=1, pattern=HTTPS), note("Discovery document of the server whose tokens engines accept.")
    ] = msgspec.field(name="discoveryURL")


class MappedRole(Model, frozen=True, kw_only=True):
    value: Annotated[str, Meta(min_length=1), note("Value of the claim.")]
    role: Annotated[str, Meta(min_length=1), note("Role that it stands for; it must exist in the database.")]


class RoleMapping(Model, frozen=True, kw_only=True):
    claim: Annotated[
        Annotated[str, Meta(min_length=1)] | None, note("Claim that names roles; engines look at role by default.")
    ] = None
    map: Annotated[
        list[MappedRole],
        Meta(min_length=1),
        note(
            "Which role each value stands for; other values give none.",
            **{"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["value"]},
        ),
    ]


class OIDCProvider(Model, frozen=True, kw_only=True):
    name: Annotated[str, Meta(min_length=1, pattern=r"^[^_].*$"), note("Name of the provider.")]
    title: Annotated[str, note("What people see.")] = ""
    discovery_url: Annotated[
        Annotated[str, Meta(min_length=1, pattern=HTTPS)] | None,
        note("Discovery document of the provider; or set target."),
    ] = msgspec.field(default=None, name="discoveryURL")
    target: Annotated[
        TargetServer | None, note("Server that people log in at, where more than its address is told.")
    ] = None
    exchange: Annotated[
        ExchangeServer | None, note("Server that exchanges the target's tokens for those that engines accept.")
    ] = None
    audience: Annotated[str, note("Audience that tokens must carry.")] = ""
    username_mapping: Annotated[
        str,
        Meta(min_length=1),
        # Not a constraint of the model: a longer one that was stored before must still be read.
        note("How claims become a user name.", maxLength=MOST_MAPPING),
    ]
    jit_provisioning: Annotated[JitProvisioning | None, note("Users made at their first login.")] = None
    jwks: Annotated[JwksSpec | None, note("The provider's keys.")] = None
    discovery: Annotated[DiscoverySpec | None, note("The provider's settings.")] = None
    role_mapping: Annotated[RoleMapping | None, note("Roles by a claim of the token, at every login.")] = None


class OIDCSpec(Model, frozen=True, kw_only=True):
    jwt: Annotated[OIDCJwtSpec | None, note("How tokens of providers are checked.")] = None
    providers: Annotated[
        list[Annotated[OIDCProvider, Meta(extra_json_schema={"x-kubernetes-validations": [PROVIDER_RULE]})]],
        Meta(min_length=1),
        note("OpenID Connect providers."),
    ]


class AuthSpec(Model, frozen=True, kw_only=True):
    enabled: Annotated[bool, note("Turns authentication on.", default=False)] = False
    preferred_authorization_server: Annotated[str, note("Provider that clients are sent to first.")] = ""
    local: Annotated[LocalAuthSpec | None, note("Users and tokens of the instance itself.")] = None
    oidc: Annotated[OIDCSpec | None, note("Users of OpenID Connect providers.")] = None


class SigningKeyStatus(Model, frozen=True, kw_only=True):
    id: Annotated[str, note("Key id.")]
    secret_name: Annotated[str, note("Secret that holds the key.")]
    created_at: Annotated[Instant, note("When the key was made.")]
    observed_public_key_fingerprint: Annotated[str, note("SHA-256 of the public key.")] = ""
    algorithm: Annotated[str, note("Algorithm of the key.")] = ""
    size: Annotated[Int32, note("Size of the key in bits.")] = 0
    phase: Annotated[
        Literal["", "Active", "ValidationOnly", "Removing"],
        note("What the key is used for.", enum=["Active", "ValidationOnly", "Removing"]),
    ] = ""
    demoted_at: Annotated[Instant | None, note("When the key stopped signing.")] = None
    retire_eligible_at: Annotated[Instant | None, note("When the key may be removed.")] = None


class AuthStatus(Model, frozen=True, kw_only=True):
    signing_keys: Annotated[list[SigningKeyStatus], note("The signing keys in use.")] = []
    signing_key_generation: Annotated[int, note("Counts signing keys; never goes back.")] = 0
    pending_rotation_step: Annotated[
        Literal["", "AwaitingPromotion", "AwaitingRetireAnchor", "AwaitingRemoval"],
        note(
            "What a rotation waits for.",
            enum=["AwaitingPromotion", "AwaitingRetireAnchor", "AwaitingRemoval"],
        ),
    ] = ""
    pending_since: Annotated[Instant | None, note("Since when it waits.")] = None
    lagging_engines: Annotated[list[str], note("Engines it waits for; the first five.")] = []
    lagging_engine_count: Annotated[int, note("How many engines it waits for.")] = 0
