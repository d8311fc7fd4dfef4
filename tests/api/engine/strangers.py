"""Objects that look like an engine's, and a cluster that refuses to delete some."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from firebolt_operator.api.names import LABEL_ENGINE, LABEL_GENERATION
from firebolt_operator.api.resources import (
    CONFIG_MAPS,
    FIREBOLT_ENGINES,
    POD_DISRUPTION_BUDGETS,
    SERVICES,
    STATEFULSETS,
)
from firebolt_operator.errors import RejectedError
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.engine.person import SECONDS, Person

KINDS = (STATEFULSETS, SERVICES, CONFIG_MAPS)
_ADMISSION = ("admissionregistration.k8s.io", "v1")
POLICIES = Resource(*_ADMISSION, "validatingadmissionpolicies", "ValidatingAdmissionPolicy", namespaced=False)
BINDINGS = Resource(
    *_ADMISSION, "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", namespaced=False
)
PROBE = "may-it-be-deleted"


def lookalike(person: Person, resource: Resource, name: str, generation: str | None, **metadata: Any) -> Manifest:
    """Labels like an engine's own; `owner` makes it one."""
    labels = {LABEL_ENGINE: "eng"} | ({LABEL_GENERATION: generation} if generation is not None else {})
    owner: Manifest | None = metadata.pop("owner", None)
    if owner is not None:
        metadata["ownerReferences"] = [owner]
    return person.manifest(resource, name, labels=labels, metadata=metadata, **_content(resource))


def owner_of(engine: Manifest, *, is_controller: bool = True) -> Manifest:
    return {
        "apiVersion": FIREBOLT_ENGINES.api_version,
        "kind": FIREBOLT_ENGINES.kind,
        "name": engine["metadata"]["name"],
        "uid": engine["metadata"]["uid"],
        "controller": is_controller,
    }


def _content(resource: Resource) -> Manifest:
    if resource == CONFIG_MAPS:
        return {"data": {"theirs": "yes"}}
    if resource == SERVICES:
        return {"spec": {"clusterIP": "None", "selector": {"their": "app"}, "ports": [{"port": 80}]}}
    labels = {"their": "app"}
    if resource == POD_DISRUPTION_BUDGETS:
        return {"spec": {"minAvailable": 0, "selector": {"matchLabels": labels}}}
    template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    return {"spec": {"replicas": 0, "selector": {"matchLabels": labels}, "template": template}}


@asynccontextmanager
async def refused(person: Person, resource: Resource, operation: str) -> AsyncGenerator[None]:
    """Nobody may do this to objects of this kind in the person's namespace."""
    name = f"refuse-{person.namespace}"
    rule = {
        "apiGroups": [resource.group],
        "apiVersions": [resource.version],
        "operations": [operation],
        "resources": [resource.plural],
    }
    place = {"matchLabels": {"kubernetes.io/metadata.name": person.namespace}}
    policy = {
        "apiVersion": POLICIES.api_version,
        "kind": POLICIES.kind,
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule], "namespaceSelector": place},
            "validations": [{"expression": "false", "message": "not now", "reason": "Forbidden"}],
        },
    }
    binding = {
        "apiVersion": BINDINGS.api_version,
        "kind": BINDINGS.kind,
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"]},
    }
    policy_uid, binding_uid = [(await person.client.create(each))["metadata"]["uid"] for each in (policy, binding)]
    try:
        await _until_refused(person, resource)
        yield
    finally:
        await person.client.delete(Ref(BINDINGS, "", name), uid=binding_uid)
        await person.client.delete(Ref(POLICIES, "", name), uid=policy_uid)


async def _until_refused(person: Person, resource: Resource) -> None:
    """The API server takes a moment to learn of a new policy."""
    probe = person.manifest(resource, PROBE, **_content(resource))
    async with asyncio.timeout(SECONDS):
        while True:
            try:
                made = await person.client.create(probe)
                await person.client.delete(Ref(resource, person.namespace, PROBE), uid=made["metadata"]["uid"])
            except RejectedError:
                return
            await asyncio.sleep(0.05)
