"""Whom do API servers trust when they ask us? The `caBundle` of each of our webhooks says so."""

import base64
import binascii
from typing import Final

from firebolt_operator.api.names import ANNOTATION_TRUST, TRUST_BY_OPERATOR
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.refs import Manifest, Resource

VALIDATING: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "validatingwebhookconfigurations",
    "ValidatingWebhookConfiguration",
    namespaced=False,
)
MUTATING: Final = Resource(
    "admissionregistration.k8s.io",
    "v1",
    "mutatingwebhookconfigurations",
    "MutatingWebhookConfiguration",
    namespaced=False,
)


def is_kept(configuration: Manifest) -> bool:
    """Whether the operator says whom it trusts.

    Whoever installs it says so, in the same write as any other bundle: a leader whose successor will show a certificate
    from elsewhere must not put its own authority back.
    """
    annotations = mapping(mapping(configuration.get("metadata")).get("annotations"))
    return annotations.get(ANNOTATION_TRUST) == TRUST_BY_OPERATOR


def bundles_of(configuration: Manifest) -> list[bytes]:
    """Of each webhook; empty where there is none, or what is no base64."""
    return [_decoded(_bundle(webhook)) for webhook in mappings(configuration.get("webhooks"))]


def trusts(configuration: Manifest, bundle: bytes) -> bool:
    return all(each == bundle for each in bundles_of(configuration))


def with_bundle(configuration: Manifest, bundle: bytes) -> Manifest:
    """What is applied: the bundles alone. All else belongs to whoever installed the configuration."""
    webhooks = mappings(configuration.get("webhooks"))
    encoded = base64.b64encode(bundle).decode()
    return {
        "apiVersion": configuration["apiVersion"],
        "kind": configuration["kind"],
        "metadata": {"name": mapping(configuration.get("metadata"))["name"]},
        "webhooks": [{"name": webhook["name"], "clientConfig": {"caBundle": encoded}} for webhook in webhooks],
    }


def _bundle(webhook: Manifest) -> str:
    return text(mapping(webhook.get("clientConfig")).get("caBundle"))


def _decoded(encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return b""
