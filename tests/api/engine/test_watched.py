"""Which objects does the operator keep in memory? Its own kinds and what carries its label, nothing else."""

from firebolt_operator.api.names import LABEL_ENGINE
from firebolt_operator.api.resources import CONFIG_MAPS, PODS, SECRETS, SERVICES, STATEFULSETS
from firebolt_operator.refs import Manifest, Resource
from tests.api.engine.person import Person, serving
from tests.api.engine.running import Operator, Pass

CONTAINER: Manifest = {"name": "c", "image": "i"}
FOREIGN: dict[Resource, Manifest] = {
    CONFIG_MAPS: {"data": {"a": "1"}},
    SECRETS: {"stringData": {"a": "1"}},
    SERVICES: {"spec": {"clusterIP": "None", "ports": [{"port": 80}]}},
    PODS: {"spec": {"containers": [CONTAINER]}},
}


async def test_foreign_objects_are_not_even_heard_of(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await person.make_engine(replicas=2)
    await operator.until_at_rest(0)
    for resource, content in FOREIGN.items():
        await person.client.create(person.manifest(resource, "foreign", labels={"app": "theirs"}, **content))
    # What is watched in the same way comes after it, and tells that all before it would have been heard.
    for resource in (CONFIG_MAPS, SERVICES, PODS):
        labels = {"firebolt.io/engine": "another"}
        await person.client.create(person.manifest(resource, "ours", labels=labels, **FOREIGN[resource]))
    key = (person.namespace, "ours")
    caches = operator.caches
    await operator.sees(lambda: caches.config_maps.get(key) and caches.services.get(key) and caches.pods.get(key))
    known = {cache.resource.kind: {name for _, name in cache._entries} for cache in caches.all()}
    assert known == {
        "FireboltEngine": {"eng"},
        "FireboltEngineClass": set(),
        "FireboltEnginePreset": set(),
        "FireboltInstance": {"inst"},
        "StatefulSet": {"eng-g0"},
        "Service": {"eng-g0-hl", "eng-service", "ours"},
        "ConfigMap": {"eng-g0-config", "ours"},
        "PodDisruptionBudget": set(),
        "Secret": set(),
        "Pod": {"eng-g0-0", "eng-g0-1", "ours"},
    }


def reason_of(run: Pass) -> str:
    return run.outcome.reason if run.outcome else run.error


async def test_a_statefulset_that_lost_its_label_is_looked_for_by_name_before_another_one_is_made(
    operator: Operator, person: Person
) -> None:
    """Out of the filtered view is not gone: the label on it was drift, so one generation follows, and no more."""
    await person.make_instance()
    await person.make_engine()
    await operator.until_at_rest(0)
    await person.patch(STATEFULSETS, "eng-g0", {"metadata": {"labels": {LABEL_ENGINE: None}}})
    await operator.until_at_rest(1)
    assert any("metadata.labels" in reason_of(run) for run in operator.engines.ended("eng"))
    await person.until_gone(STATEFULSETS, "eng-g0")  # though no list by label would find it
    await person.until_children(serving(1))
    await operator.stays_at_rest(1)
