"""Has every text in a spec that we read a meaning out of a bound in the schema? All others are named here."""

import re
from collections.abc import Iterator

from firebolt_operator.api.crds import crd_manifests
from firebolt_operator.refs import Manifest

PASSED_ON = frozenset(
    {
        # Names of other objects: looked up as they are.
        "spec.instanceRef",
        "spec.engineClassRef",
        "spec.metadata.postgres.credentialsSecretRef.name",
        "spec.auth.local.admin.password.name",
        "spec.auth.local.signingKeys.certManager.issuerRef.name",
        *(
            f"spec.tls.{listener}.{reference}.name"
            for listener in ("gateway", "engine")
            for reference in ("certManager.issuerRef", "secretRef", "clientCASecretRef", "crlSecretRef")
        ),
        # Compared as a whole, or copied into what is rendered.
        "spec.auth.preferredAuthorizationServer",
        "spec.auth.local.admin.name",
        "spec.auth.local.admin.password.key",
        *(
            f"spec.auth.oidc.providers[].{field}"
            for field in (
                "name",
                "title",
                "discoveryURL",
                "audience",
                "target.discoveryURL",
                "target.tokenEndpointAuthMethod",
                "exchange.discoveryURL",
                "jitProvisioning.defaultRoles[]",
                "roleMapping.claim",
                "roleMapping.map[].value",
                "roleMapping.map[].role",
            )
        ),
        "spec.metadataEndpointOverride",
        "spec.storage.persistentVolumeClaim.accessModes[]",
        "spec.storage.persistentVolumeClaim.storageClassName",
        "spec.storage.hostPath.path",
        "spec.storage.hostPath.type",
    }
)


def test_every_text_of_a_spec_is_bounded_or_only_passed_on() -> None:
    assert {path for spec in specs() for path in unbounded(spec, "spec")} == PASSED_ON


def test_quantities_in_pod_templates_are_bounded() -> None:
    found = {node["maxLength"] for spec in specs() for node in quantities(spec)}
    assert found == {64}


def specs() -> Iterator[Manifest]:
    for definition in crd_manifests():
        for version in definition["spec"]["versions"]:
            yield version["schema"]["openAPIV3Schema"]["properties"]["spec"]


def unbounded(node: Manifest, path: str) -> Iterator[str]:
    """A pod template passes through as JSON; how large it may be as a whole is the policy's question."""
    if path.endswith("emplate"):
        return
    is_text = node.get("type") == "string" or node.get("x-kubernetes-int-or-string", False)
    if is_text and not {"maxLength", "enum"} & node.keys() and not is_finite(node.get("pattern", ".*")):
        yield path
    for name, child in children(node):
        yield from unbounded(child, path + name)


def is_finite(pattern: str) -> bool:
    return re.search(r"[*+]|,\}", pattern) is None


def quantities(node: Manifest) -> Iterator[Manifest]:
    if node.get("x-kubernetes-int-or-string", False) and "pattern" in node:
        yield node
    for _, child in children(node):
        yield from quantities(child)


def children(node: Manifest) -> Iterator[tuple[str, Manifest]]:
    for name, child in node.get("properties", {}).items():
        yield f".{name}", child
    for keyword, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(node.get(keyword), dict):
            yield mark, node[keyword]
