"""An engine believes a provider's tokens by its published keys, whom it says they stand for, and asks it seldom."""

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from firebolt_local.standins.engine.auth.config import Provider
from firebolt_local.standins.engine.auth.providers import NoAnswerError, TrustedProvider
from firebolt_local.standins.engine.auth.signing_keys import SigningKeys
from firebolt_local.standins.engine.auth.tokens import Limits, TokenError, peek
from firebolt_local.standins.engine.auth.users import User

DISCOVERY = "https://idp.example.com/.well-known/openid-configuration"
JWKS = "https://idp.example.com/keys"
RESOURCE = "https://firebolt.io/instance/01JINSTANCE"
FIRST, SECOND = (rsa.generate_private_key(65537, 2048) for _ in range(2))


@dataclass
class World:
    """A provider on the other side, and a clock."""

    keys: dict[str, rsa.RSAPrivateKey] = field(default_factory=lambda: {"one": FIRST})
    now: float = 1_800_000_000.0
    asked: list[str] = field(default_factory=list[str])
    is_away: bool = False
    description: Any = field(default_factory=lambda: {"issuer": "https://idp.example.com", "jwks_uri": JWKS})

    async def fetch(self, url: str) -> Any:
        self.asked.append(url)
        if self.is_away:
            raise NoAnswerError("away")
        published = SigningKeys("RS256", self.keys).published()
        return {DISCOVERY: self.description, JWKS: published}[url]

    def clock(self) -> float:
        return self.now

    def token(self, key_id: str = "one", **claims: Any) -> str:
        usual = {
            "iss": "https://idp.example.com",
            "aud": RESOURCE,
            "sub": "ada",
            "iat": self.now,
            "exp": self.now + 60,
        }
        return jwt.encode({**usual, **claims}, self.keys[key_id], "RS256", headers={"kid": key_id})


@pytest.fixture
def world() -> World:
    return World()


def a_provider(world: World, **fields: Any) -> TrustedProvider:
    described = {
        "name": "okta",
        "discovery_url": DISCOVERY,
        "username_mapping": "{{ iss }}|{{sub}}",
        "jit_provisioning": {"enabled": True},
        **fields,
    }
    provider = msgspec.convert({name: value for name, value in described.items() if value is not None}, Provider)
    return TrustedProvider(provider, Limits(timedelta(days=1), timedelta(seconds=30)), world.fetch, world.clock)


async def user_of(provider: TrustedProvider, token: str) -> User:
    return await provider.user(token, peek(token), resource=RESOURCE, admin="firebolt")


async def test_given_a_token_then_its_claims_make_the_user(world: World) -> None:
    assert await user_of(a_provider(world), world.token()) == User("https://idp.example.com|ada", ("public",))


async def test_given_a_role_mapping_then_only_what_it_lists_gives_a_role(world: World) -> None:
    mapping = {"claim": "groups", "map": [{"value": "a", "role": "analyst"}, {"value": "b", "role": "loader"}]}
    provisioning = {"enabled": True, "default_roles": ["guest"]}
    provider = a_provider(world, role_mapping=mapping, jit_provisioning=provisioning)
    assert (await user_of(provider, world.token(groups=["b", "x"]))).roles == ("guest", "loader")
    assert (await user_of(provider, world.token(groups="a"))).roles == ("guest", "analyst")
    assert (await user_of(provider, world.token(role="analyst"))).roles == ("guest",)


@pytest.mark.parametrize(
    ("fields", "claims", "problem"),
    [
        pytest.param({}, {"aud": "elsewhere"}, "Audience doesn't match", id="for-somebody-else"),
        pytest.param({"audience": "lake"}, {}, "Audience doesn't match", id="not-for-the-audience-that-is-asked-for"),
        pytest.param({}, {"sub": None}, "no sub|Subject", id="no-claim"),
        pytest.param({"username_mapping": "{{ sub }}"}, {"sub": "firebolt"}, "administrator", id="as-administrator"),
        pytest.param({"jit_provisioning": None}, {}, "no such user", id="without-provisioning"),
        pytest.param({}, {"exp": 1_799_999_970}, "expired", id="expired"),
        pytest.param({}, {"iat": 1_799_913_570}, "too old", id="too-old"),
    ],
)
async def test_given_something_wrong_then_nobody_is_let_in(
    world: World, fields: dict[str, Any], claims: dict[str, Any], problem: str
) -> None:
    with pytest.raises(TokenError, match=problem):
        await user_of(a_provider(world, **fields), world.token(**claims))


async def test_given_many_tokens_then_the_provider_is_asked_once_until_its_answers_are_old(world: World) -> None:
    provider = a_provider(world, jwks={"cache_ttl": "10m"}, discovery={"refresh_interval": "1h"})
    for _ in range(3):
        await user_of(provider, world.token())
    assert world.asked == [DISCOVERY, JWKS]
    world.now += 600
    await user_of(provider, world.token())
    assert world.asked == [DISCOVERY, JWKS, JWKS]
    world.now += 3000
    await user_of(provider, world.token())
    assert world.asked[3:] == [DISCOVERY, JWKS]


async def test_given_a_rotated_key_then_it_is_looked_for_but_not_by_every_stranger(world: World) -> None:
    provider = a_provider(world)
    await user_of(provider, world.token())
    world.keys = {"two": SECOND}
    world.now += 5
    assert (await user_of(provider, world.token("two"))).roles == ("public",)
    world.asked.clear()
    stranger = World(keys={"nine": FIRST}, now=world.now).token("nine")
    for _ in range(3):
        with pytest.raises(TokenError, match="no key nine"):
            await user_of(provider, stranger)
    assert world.asked == []


async def test_given_a_provider_that_is_away_then_known_keys_go_on_and_unknown_ones_do_not(world: World) -> None:
    provider = a_provider(world)
    await user_of(provider, world.token())
    world.is_away = True
    world.now += 86_400 * 2
    assert (await user_of(provider, world.token())).roles == ("public",)
    with pytest.raises(NoAnswerError, match="away"):
        await user_of(a_provider(world), world.token())


async def test_given_two_hops_then_the_second_server_is_the_one_that_is_believed(world: World) -> None:
    first = {"discovery_url": None, "target": {"discovery_url": "https://login.example.com/x"}}
    await user_of(a_provider(world, **first, exchange={"discovery_url": DISCOVERY}), world.token())
    assert world.asked == [DISCOVERY, JWKS]
    await user_of(a_provider(world, discovery_url=None, target={"discovery_url": DISCOVERY}), world.token())
    assert world.asked[2:] == [DISCOVERY, JWKS]


@pytest.mark.parametrize("answer", [{}, [], {"issuer": "x"}])
async def test_given_a_document_of_no_use_then_it_says_so(answer: Any) -> None:
    provider = a_provider(World(description=answer))
    with pytest.raises(NoAnswerError, match="no issuer or no jwks_uri"):
        await provider.issuer()
