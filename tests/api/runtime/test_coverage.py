"""Namespaces and labels decide what a cache knows, on a real API server."""

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.runtime.coverage import Coverage
from firebolt_operator.runtime.live import fetch_live
from tests.api.runtime.config_maps import LABEL, a_cache, a_client, a_config_map, following, ref_to


async def test_given_a_label_that_goes_and_comes_then_the_object_leaves_and_returns(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with a_client(control_plane.kubeconfig) as client:
        await client.create(a_config_map(namespace, "mine"))
        await client.create(a_config_map(namespace, "foreign", is_labelled=False))
        async with following(client, a_cache(namespace)) as followed:
            cache = followed.cache
            assert [found.metadata.name for found in cache.values()] == ["mine"]
            await client.merge_patch(ref_to(namespace, "mine"), {"metadata": {"labels": {LABEL: None}}})
            await followed.until(lambda: cache.get((namespace, "mine")) is None)
            await client.merge_patch(ref_to(namespace, "foreign"), {"metadata": {"labels": {LABEL: "yes"}}})
            await followed.until(lambda: cache.get((namespace, "foreign")) is not None)
            live = await fetch_live(cache, client, ref_to(namespace, "mine"))
            assert live is not None
            assert cache.get((namespace, "mine")) is None


async def test_given_other_namespaces_and_own_writes_outside_then_they_stay_unknown(
    control_plane: ControlPlane, namespace: str
) -> None:
    async with a_client(control_plane.kubeconfig) as client, a_client(control_plane.kubeconfig) as someone_else:
        cache = a_cache(namespace)
        client.add_observer(cache)
        async with following(client, cache) as followed:
            await client.create(a_config_map("default", f"elsewhere-{namespace}"))
            await client.apply(a_config_map(namespace, "foreign", is_labelled=False))
            await client.apply(a_config_map(namespace, "mine"))
            assert [found.metadata.name for found in cache.values()] == ["mine"]
            # The watch tells in order: when it brings this one, it has told of all that came before.
            await someone_else.apply(a_config_map(namespace, "last"))
            await followed.until(lambda: cache.get((namespace, "last")) is not None)
            assert [found.metadata.name for found in cache.values()] == ["last", "mine"]
        stored = await client.get(ref_to("default", f"elsewhere-{namespace}"))
        assert stored is not None
        await client.delete(ref_to("default", f"elsewhere-{namespace}"), uid=stored["metadata"]["uid"])


async def test_given_one_name_then_only_that_object_is_watched(control_plane: ControlPlane, namespace: str) -> None:
    async with a_client(control_plane.kubeconfig) as client:
        cache = a_cache(namespace)
        cache.coverage = Coverage((namespace,), name="wanted")
        async with following(client, cache) as followed:
            await client.create(a_config_map(namespace, "other"))
            await client.create(a_config_map(namespace, "wanted"))
            await followed.until(lambda: len(cache) > 0)
            assert [found.metadata.name for found in cache.values()] == ["wanted"]
