"""Does a leaving gateway pod learn that its instance is deleted, with the rights that the operator gives it?"""

from firebolt_operator.api.resources import FIREBOLT_INSTANCES
from firebolt_operator.refs import Ref
from firebolt_operator.wake.own_instance import OwnInstance
from tests.api.wake.place import INSTANCE, Place, a_door

FINALIZERS = ["firebolt.io/held-by-a-test"]


async def test_given_hours_to_leave_when_the_instance_is_deleted_then_its_gateway_sees_that(place: Place) -> None:
    await place.make_instance()
    account = await place.make_gateway_account(drain_timeout="2h")
    ref = Ref(FIREBOLT_INSTANCES, place.namespace, INSTANCE)
    await place.client.merge_patch(ref, {"metadata": {"finalizers": FINALIZERS}})
    async with a_door(place.kubeconfig_of(account)) as client:
        instance = OwnInstance(client, ref)
        assert not await instance.is_deleted()
        await place.delete(ref)
        assert await instance.is_deleted()
        await place.client.merge_patch(ref, {"metadata": {"finalizers": None}})
        assert await place.client.get(ref) is None
        assert await instance.is_deleted()


async def test_given_no_right_to_read_the_instance_when_it_is_deleted_then_nothing_is_concluded(place: Place) -> None:
    """Of other instances a gateway may read none, and of its own none if it leaves in a minute anyway."""
    await place.make_instance("other")
    short = await place.make_gateway_account()
    long = await place.make_gateway_account("long", drain_timeout="2h")
    ref = Ref(FIREBOLT_INSTANCES, place.namespace, "other")
    await place.delete(ref)
    for account in (short, long):
        async with a_door(place.kubeconfig_of(account)) as client:
            assert not await OwnInstance(client, ref).is_deleted()


async def test_given_no_name_when_asked_then_nobody_is_asked(place: Place) -> None:
    assert not await OwnInstance(place.client, None).is_deleted()
