"""What do people do about passwords and signing keys, and when is it done?"""

from typing import TYPE_CHECKING, Final

from firebolt_local.campaign.stories.arena import ISSUER
from firebolt_local.campaign.stories.place import Place
from firebolt_local.campaign.stories.steps import INSTANCE, INSTANCE_SPEC, Step, engine_rests, instance_rests
from firebolt_local.testing.ledger import World
from firebolt_operator.api.names import metadata_name
from firebolt_operator.api.resources import DEPLOYMENTS, FIREBOLT_INSTANCES, SECRETS

if TYPE_CHECKING:
    from firebolt_operator.refs import Manifest

LOGIN: Final = "login"


def make_login() -> Step:
    first = {"username": "firebolt", "password": "first"}

    async def do(place: Place) -> None:
        metadata = {"name": LOGIN, "namespace": place.namespace}
        await place.client.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": first})

    return Step(do, lambda _: [])


def make_instance_elsewhere() -> Step:
    """With a database of the user's own, whose login can change."""
    database = {"host": "database.example", "database": "firebolt", "credentialsSecretRef": {"name": LOGIN}}
    spec = {**INSTANCE_SPEC, "metadata": {"postgres": database}}
    return Step(lambda place: place.create(FIREBOLT_INSTANCES, INSTANCE, spec), instance_rests)


def change_password() -> Step:
    return Step(lambda place: place.edit(SECRETS, LOGIN, {"stringData": {"password": "next"}}), _has_restarted)


def _has_restarted(world: World) -> list[str]:
    deployment = world.get((DEPLOYMENTS.kind, metadata_name(INSTANCE)), {"metadata": {"generation": 0}})
    is_edited = deployment["metadata"]["generation"] > 1
    return instance_rests(world) if is_edited else ["the metadata service goes on with the old password"]


def make_instance_with_keys() -> Step:
    """Who logs in is told by engines, with a key that cert-manager made."""
    issuer = {"certManager": {"issuerRef": {"name": ISSUER, "kind": "ClusterIssuer"}}}
    local = {"admin": {"password": {"name": LOGIN, "key": "password"}}, "signingKeys": issuer}
    spec = {**INSTANCE_SPEC, "auth": {"enabled": True, "local": local}}
    return Step(lambda place: place.create(FIREBOLT_INSTANCES, INSTANCE, spec), instance_rests)


def rotate() -> Step:
    """The key that is there is old enough at once. Its successor is not: the first has to be kept for a day."""
    times = {"rotationInterval": "1s", "retainDuration": "25h"}
    change = {"spec": {"auth": {"local": {"signingKeys": times}}}}
    return Step(lambda place: place.edit(FIREBOLT_INSTANCES, INSTANCE, change), has_rotated)


def has_rotated(world: World) -> list[str]:
    """Engines have rolled twice: onto both keys, and onto the one that signs now."""
    auth: Manifest = world.get((FIREBOLT_INSTANCES.kind, INSTANCE), {}).get("status", {}).get("auth", {})
    waiting = [key["id"] for key in auth.get("signingKeys", []) if key.get("retireEligibleAt")]
    if not waiting:
        return ["no signing key waits for its end"]
    return [*instance_rests(world), *engine_rests(replicas=2, generation=2)(world)]
