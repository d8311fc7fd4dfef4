"""Engines with authentication: what they are made with, what they wait for, and whose word they take for it."""

import base64
from collections.abc import Callable
from dataclasses import dataclass, field

import msgspec
import pytest

from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINES, FIREBOLT_INSTANCES, SECRETS, STATEFULSETS
from firebolt_operator.engine.lifecycle import EngineReconciler
from firebolt_operator.manifests.fingerprints import public_key_fingerprint
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.controller import Outcome
from tests.support.instances import a_condition
from tests.support.one_engine import INSTANCE, MOST_PASSES, NAMESPACE, OneEngine, an_object
from tests.support.self_signed import a_private_key, private_pem, self_signed

PAIRS = {number: a_private_key() for number in (1, 2, 3)}
CERTIFICATES = {number: self_signed(key) for number, key in PAIRS.items()}
FINGERPRINTS = {number: public_key_fingerprint(text) for number, text in CERTIFICATES.items()}
AUTH: Manifest = {
    "enabled": True,
    "local": {
        "admin": {"password": {"name": "admin", "key": "password"}},
        "signingKeys": {"certManager": {"issuerRef": {"name": "ca"}}},
    },
}
ANOTHER_KEY = "holds another key than the one that the instance has recorded; waiting for it to look"
LIVE = "get FireboltInstance main"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def secret_name(number: int) -> str:
    return f"main-auth-signing-{number}"


def an_instance(*numbers: int, auth: Manifest | None = AUTH) -> Manifest:
    """The first key signs; `auth` as in its spec."""
    keys = [
        {
            "id": f"signing-{number}",
            "secretName": secret_name(number),
            "createdAt": "2026-01-01T00:00:00Z",
            "observedPublicKeyFingerprint": FINGERPRINTS[number],
            "algorithm": "ECDSA",
            "size": 384,
            "phase": "ValidationOnly" if place else "Active",
        }
        for place, number in enumerate(numbers)
    ]
    status = {
        **INSTANCE["status"],
        "auth": {"signingKeys": keys, "signingKeyGeneration": len(keys)},
        "conditions": [a_condition("AuthReady", "True")],
    }
    return {"spec": {**INSTANCE["spec"], "auth": auth}, "status": status}


@dataclass
class Guarded:
    one: OneEngine = field(default_factory=lambda: OneEngine(instance=an_instance(1)))
    reconciler: EngineReconciler = field(init=False)

    def __post_init__(self) -> None:
        self.reconciler = EngineReconciler(self.one.dependencies())
        self.put_secret("admin", {"password": "cGFzc3dvcmQ="})
        for number in PAIRS:
            self.put_key(number, number)

    def put_secret(self, name: str, data: dict[str, str]) -> None:
        self.one.api.put(an_object(SECRETS, name, {"data": data}))

    def put_key(self, number: int, material: int) -> None:
        pair = {"tls.key": private_pem(PAIRS[material]), "tls.crt": CERTIFICATES[material]}
        self.put_secret(secret_name(number), {key: encoded(text) for key, text in pair.items()})

    def forget(self, name: str) -> None:
        del self.one.api.objects[Ref(SECRETS, NAMESPACE, name)]

    def rotate(self, *numbers: int, is_seen: bool) -> None:
        """The instance has other keys in force; the caches may not have heard of it yet."""
        instance = an_object(FIREBOLT_INSTANCES, "main", an_instance(*numbers))
        if is_seen:
            self.one.api.put(instance)
            return
        known = self.one.api.objects[Ref(FIREBOLT_INSTANCES, NAMESPACE, "main")]
        version = str(int(known["metadata"]["resourceVersion"]) + 1000)
        metadata = known["metadata"] | {"resourceVersion": version}
        self.one.api.objects[Ref(FIREBOLT_INSTANCES, NAMESPACE, "main")] = instance | {"metadata": metadata}

    async def run(self) -> Outcome:
        outcome = await self.reconciler.reconcile(self.one.key)
        await self.one.let_pods_answer()
        return outcome

    async def until(self, reason: str) -> None:
        for _ in range(MOST_PASSES):
            if (await self.run()).reason == reason:
                return
        raise AssertionError(f"never {reason}: {self.one.api.requests}")

    async def at_rest(self) -> None:
        for _ in range(MOST_PASSES):
            outcome = await self.run()
            self.one.make_pods()
            if outcome.reason == "at rest":
                return
        raise AssertionError(f"not at rest: {self.status}")

    @property
    def status(self) -> Manifest:
        status: Manifest = self.one.api.objects[Ref(FIREBOLT_ENGINES, NAMESPACE, "sales")]["status"]
        return status

    def said(self, kind: str) -> str:
        return next(str(each["message"]) for each in self.status["conditions"] if each["type"] == kind)

    def statefulset(self, generation: int) -> Manifest:
        return self.one.api.objects[Ref(STATEFULSETS, NAMESPACE, f"sales-g{generation}")]

    def keys(self, generation: int) -> list[str]:
        listed = self.statefulset(generation)["metadata"]["annotations"]["firebolt.io/signing-keys"]
        return [each.partition("=")[0] for each in listed.split(",")]

    def config(self, generation: int) -> Manifest:
        text = self.one.api.objects[Ref(CONFIG_MAPS, NAMESPACE, f"sales-g{generation}-config")]["data"]["config.yaml"]
        config: Manifest = msgspec.json.decode(text)
        return config


async def test_an_engine_is_made_with_keys_and_passwords_as_files() -> None:
    guarded = Guarded()
    guarded.one.instance = an_instance(2, 1)
    guarded.one.begin()
    await guarded.at_rest()
    auth = guarded.config(0)["instance"]["auth"]
    assert auth["admin"] == {"name": "firebolt", "password_file": "/secrets/auth/admin/password"}
    assert [key["id"] for key in auth["local"]["signing_keys"]] == ["signing-2", "signing-1"]
    pod = guarded.statefulset(0)["spec"]["template"]["spec"]
    mounted = {volume["name"]: volume["secret"] for volume in pod["volumes"] if "secret" in volume}
    assert mounted == {
        "auth-admin": {"secretName": "admin", "items": [{"key": "password", "path": "password"}]},
        "auth-signing-signing-2": {"secretName": secret_name(2)},
        "auth-signing-signing-1": {"secretName": secret_name(1)},
    }
    assert guarded.keys(0) == ["signing-2", "signing-1"]
    assert (
        guarded.status["observedAuthHash"] == guarded.statefulset(0)["metadata"]["annotations"]["firebolt.io/auth-hash"]
    )


Change = Callable[[Guarded], None]
MISSING: dict[str, tuple[Change, str]] = {
    "admin": (lambda guarded: guarded.forget("admin"), "admin password secret apps/admin not found"),
    "password": (
        lambda guarded: guarded.put_secret("admin", {"password": "", "other": "eA=="}),
        'admin password secret apps/admin is missing or empty for key "password"',
    ),
    "key": (
        lambda guarded: guarded.forget(secret_name(1)),
        "signing key secret apps/main-auth-signing-1 not found",
    ),
    "certificate": (
        lambda guarded: guarded.put_secret(secret_name(1), {"tls.key": "eA==", "tls.crt": "eA=="}),
        'signing key secret apps/main-auth-signing-1 has no readable certificate in key "tls.crt"',
    ),
    "another key": (
        lambda guarded: guarded.put_key(1, 3),
        f"signing key secret apps/{secret_name(1)} {ANOTHER_KEY}",
    ),
}
ROLLING: dict[str, Change] = {
    "another key": lambda guarded: guarded.rotate(1, 2, is_seen=True),
    "another password": lambda guarded: guarded.put_secret("admin", {"password": "b3RoZXI="}),
}


@pytest.mark.parametrize(("spoil", "message"), MISSING.values(), ids=MISSING)
async def test_without_what_it_mounts_no_engine_is_made(spoil: Change, message: str) -> None:
    guarded = Guarded()
    guarded.one.begin()
    spoil(guarded)
    for _ in range(3):
        await guarded.run()
    assert guarded.said("InstanceReady") == message
    assert not [request for request in guarded.one.api.requests if request.startswith("apply")]


@pytest.mark.parametrize("name", ["other-metadata-postgres-creds", "other-auth-signing", "other-gateway-tls"])
async def test_a_neighbours_secret_is_not_mounted_before_the_instance_was_judged(name: str) -> None:
    """The instance was edited a moment ago, and its condition speaks of what was there before."""
    guarded = Guarded()
    local = {**AUTH["local"], "admin": {"password": {"name": name, "key": "password"}}}
    guarded.put_secret(name, {"password": "cGFzc3dvcmQ="})
    guarded.one.instance = an_instance(1, auth={**AUTH, "local": local})
    guarded.one.begin()
    for _ in range(3):
        await guarded.run()
    assert f'must not name "{name}"' in guarded.said("InstanceReady")
    assert not [request for request in guarded.one.api.requests if request.startswith("apply")]


async def test_without_its_local_part_authentication_is_no_authentication() -> None:
    guarded = Guarded()
    guarded.one.instance = an_instance(1, auth={"enabled": True})
    guarded.one.begin()
    for _ in range(3):
        await guarded.run()
    assert guarded.said("InstanceReady") == 'FireboltInstance "main" has auth enabled but spec.auth.local is unset'


async def test_a_generation_is_made_with_the_keys_that_the_server_has_in_force() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.until("status initialised")
    guarded.rotate(1, 2, is_seen=False)
    await guarded.run()
    assert guarded.keys(0) == ["signing-1", "signing-2"]
    assert LIVE in guarded.one.api.requests


async def test_a_generation_whose_keys_are_not_in_force_any_more_gets_no_queries() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.until("waiting for pods, 0 of 2 ready")
    guarded.one.make_pods()
    guarded.rotate(2, 1, is_seen=False)
    outcome = await guarded.run()
    assert outcome.reason.startswith("new generation: abandoned, ")
    await guarded.at_rest()
    assert guarded.keys(guarded.status["activeGeneration"]) == ["signing-2", "signing-1"]


async def test_a_generation_whose_key_was_made_anew_gets_no_queries_before_the_instance_has_looked() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.until("waiting for pods, 0 of 2 ready")
    guarded.one.make_pods()
    guarded.put_key(1, 3)
    await guarded.run()
    assert (guarded.status["phase"], guarded.status["activeGeneration"]) == ("creating", -1)


async def test_while_pods_start_and_at_rest_nobody_asks_for_the_instance() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.until("waiting for pods, 0 of 2 ready")
    guarded.one.api.requests.clear()
    await guarded.run()
    assert LIVE not in guarded.one.api.requests
    await guarded.at_rest()
    guarded.one.api.requests.clear()
    await guarded.run()
    assert LIVE not in guarded.one.api.requests


async def test_without_authentication_no_engine_ever_asks_for_more_than_before() -> None:
    guarded = Guarded()
    guarded.one.instance = INSTANCE
    guarded.one.begin()
    await guarded.at_rest()
    asked = [request for request in guarded.one.api.requests if "Instance" in request or "Secret" in request]
    assert asked == []


@pytest.mark.parametrize("change", ROLLING.values(), ids=ROLLING)
async def test_what_an_engine_reads_only_when_it_starts_rolls_it(change: Change) -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.at_rest()
    change(guarded)
    outcome = await guarded.run()
    assert outcome.reason.startswith("new generation: metadata.annotations.firebolt.io/auth-hash")


async def test_a_list_of_keys_that_an_older_release_did_not_write_rolls_nobody() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.at_rest()
    statefulset = guarded.statefulset(0)
    del statefulset["metadata"]["annotations"]["firebolt.io/signing-keys"]
    guarded.one.api.put(statefulset)
    assert (await guarded.run()).reason == "at rest"


async def test_when_authentication_is_turned_off_engines_roll_to_none() -> None:
    guarded = Guarded()
    guarded.one.begin()
    await guarded.at_rest()
    guarded.one.api.put(an_object(FIREBOLT_INSTANCES, "main", INSTANCE))
    await guarded.run()
    await guarded.at_rest()
    assert "auth" not in guarded.config(1)["instance"]
    assert guarded.status.get("observedAuthHash", "") == ""
