"""An instance from its creation to its end, on real controllers."""

import json

from firebolt_operator.api.conditions import find_condition
from firebolt_operator.api.names import FINALIZER_INSTANCE
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    DEPLOYMENTS,
    FIREBOLT_INSTANCES,
    PERSISTENT_VOLUME_CLAIMS,
    POD_DISRUPTION_BUDGETS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.refs import Manifest, Resource
from tests.api.instance.person import Person
from tests.api.instance.running import Operator

LABEL = "firebolt.io/instance=inst"
INVENTORY = {
    SECRETS: {"inst-metadata-postgres-creds"},
    STATEFULSETS: {"inst-metadata-pg"},
    PERSISTENT_VOLUME_CLAIMS: {"data-inst-metadata-pg-0"},
    SERVICES: {"inst-metadata-pg", "inst-metadata", "inst-gateway"},
    CONFIG_MAPS: {"inst-metadata-config", "inst-gateway-accounts", "inst-gateway-config"},
    DEPLOYMENTS: {"inst-metadata", "inst-gateway"},
    POD_DISRUPTION_BUDGETS: {"inst-gateway"},
    SERVICE_ACCOUNTS: {"inst-gateway"},
    ROLES: {"inst-gateway"},
    ROLE_BINDINGS: {"inst-gateway"},
}


async def test_a_new_instance_becomes_ready_and_then_costs_nothing(operator: Operator, person: Person) -> None:
    await person.make_instance()
    instance = await operator.until_ready()
    assert {resource: await person.names(resource, LABEL) for resource in INVENTORY} == INVENTORY
    assert instance.metadata.finalizers == [FINALIZER_INSTANCE]
    assert len(instance.spec.id) == 26
    status = instance.status
    assert (status.metadata_endpoint, status.gateway_endpoint, status.instance_id) == (
        f"inst-metadata.{person.namespace}.svc.cluster.local:7000",
        f"inst-gateway.{person.namespace}.svc.cluster.local",
        instance.spec.id,
    )
    await operator.settled()
    operator.requests.seen.clear()
    assert await operator.next_pass() == "at rest"
    assert operator.requests.seen == {}


async def test_metrics_follow_the_instance(operator: Operator, person: Person) -> None:
    await person.make_instance()
    instance = await operator.until_ready()
    await operator.next_pass()
    labels = {"namespace": person.namespace, "name": "inst"}

    def value(metric: str, **more: str) -> float | None:
        return operator.metrics.get_sample_value(f"firebolt_instance_{metric}", {**labels, **more})

    phases = {phase: value("status_phase", phase=phase) for phase in ("Provisioning", "Ready", "Degraded", "Failed")}
    assert phases == {"Provisioning": 0, "Ready": 1, "Degraded": 0, "Failed": 0}
    assert value("status_condition", type="GatewayReady") == 1
    assert value("info", id=instance.spec.id, postgres_mode="internal") == 1
    assert value("last_reconciled_timestamp")
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    await operator.settled()
    assert [sample for family in operator.metrics.collect() for sample in family.samples] == []


async def test_the_phase_follows_the_pods(operator: Operator, person: Person) -> None:
    template = {"metadata": {"annotations": {"sim.firebolt.io/ready": "false"}}}
    await person.make_instance(metadata={"template": template})
    waiting = await operator.until(lambda found: find_condition(found.status.conditions, "MetadataReady") is not None)
    assert (waiting.status.phase, waiting.status.metadata_endpoint) == ("Provisioning", "")
    assert await person.names(DEPLOYMENTS) == {"inst-metadata"}  # the gateway waits
    await person.patch_instance({"spec": {"metadata": {"template": None}}})
    await operator.until_ready()
    await person.patch_instance({"spec": {"gateway": {"template": template, "replicas": 0}}})
    degraded = await operator.until(lambda found: found.status.phase == "Degraded")
    assert (degraded.status.gateway_endpoint, degraded.status.gateway_ready) == ("", False)
    assert degraded.status.metadata_ready
    await person.patch_instance({"spec": {"gateway": {"template": None, "replicas": 1}}})
    await operator.until_ready()


LABELS = {"firebolt.io/instance": "inst", "firebolt.io/component": "postgres"}
POD_TEMPLATE: Manifest = {
    "metadata": {"labels": {"their": "app"}},
    "spec": {"containers": [{"name": "c", "image": "i"}]},
}
WORKLOAD: Manifest = {"spec": {"replicas": 0, "selector": {"matchLabels": {"their": "app"}}, "template": POD_TEMPLATE}}
CLAIM: Manifest = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
RBAC = "rbac.authorization.k8s.io"
THEIRS: dict[Resource, Manifest] = {
    SECRETS: {"stringData": {"key": "value"}},
    STATEFULSETS: WORKLOAD,
    DEPLOYMENTS: WORKLOAD,
    PERSISTENT_VOLUME_CLAIMS: {"spec": CLAIM},
    SERVICES: {"spec": {"clusterIP": "None", "selector": {"their": "app"}, "ports": [{"port": 80}]}},
    CONFIG_MAPS: {"data": {"theirs": "yes"}},
    POD_DISRUPTION_BUDGETS: {"spec": {"selector": {"matchLabels": {"their": "app"}}}},
    SERVICE_ACCOUNTS: {},
    ROLES: {"rules": []},
    ROLE_BINDINGS: {"roleRef": {"apiGroup": RBAC, "kind": "Role", "name": "theirs"}},
}


async def test_deletion_takes_what_is_ours_and_leaves_the_rest(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    assert THEIRS.keys() == INVENTORY.keys()
    for resource, content in THEIRS.items():
        metadata = {"name": "theirs", "namespace": person.namespace, "labels": LABELS}
        theirs = {"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata, **content}
        await person.client.create(theirs)
    await operator.settled()
    assert await operator.next_pass() == "at rest"
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    await person.until(PERSISTENT_VOLUME_CLAIMS, "data-inst-metadata-pg-0", lambda found: found is None)
    assert {each.kind: await person.names(each, LABEL) for each in INVENTORY} == {
        each.kind: {"theirs"} for each in INVENTORY
    }


async def test_an_instance_that_comes_back_gets_a_new_database(operator: Operator, person: Person) -> None:
    await person.make_instance()
    first = await operator.until_ready()
    password = await person.password()
    await person.delete(FIREBOLT_INSTANCES, "inst")
    await person.until(FIREBOLT_INSTANCES, "inst", lambda found: found is None)
    await person.make_instance()
    second = await operator.until(
        lambda found: found.metadata.uid != first.metadata.uid and found.status.phase == "Ready"
    )
    assert second.spec.id != first.spec.id
    assert await person.password() != password


async def test_a_rejected_template_is_told_and_changes_nothing(operator: Operator, person: Person) -> None:
    await person.make_instance()
    await operator.until_ready()
    before = await person.read(DEPLOYMENTS, "inst-metadata")
    await person.patch_instance({"spec": {"metadata": {"template": {"spec": {"hostname": "x"}}}}})
    degraded = await operator.until(lambda found: found.status.phase == "Degraded")
    ready = next(each for each in degraded.status.conditions if each.type == "Ready")
    assert (ready.reason, ready.message) == (
        "TemplateRejected",
        "MetadataReady: spec.metadata.template.spec.hostname: Forbidden: hostname is owned by the operator",
    )
    assert degraded.status.metadata_endpoint != ""
    stalled = find_condition(degraded.status.conditions, "Stalled")
    assert stalled is not None
    assert (stalled.reason, stalled.message) == (ready.reason, ready.message)
    assert degraded.status.observed_generation == degraded.metadata.generation
    after = await person.read(DEPLOYMENTS, "inst-metadata")
    assert json.dumps(after["spec"]) == json.dumps(before["spec"])
    await person.patch_instance({"spec": {"metadata": {"template": None}}})
    mended = (await operator.until_ready()).status
    assert {each.type for each in mended.conditions} & {"Stalled", "Reconciling"} == set()
    assert mended.observed_generation == degraded.metadata.generation + 1
