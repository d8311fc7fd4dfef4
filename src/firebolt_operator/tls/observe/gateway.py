"""What do an instance's own objects say of TLS? Somebody else's objects of those names say nothing."""

import base64
from collections.abc import Mapping

from firebolt_operator.api import names
from firebolt_operator.manifests.live_objects import LiveObject, stranger
from firebolt_operator.manifests.reading import mapping, text
from firebolt_operator.tls.facts import GatewayRollout, GatewaySeen, TrustBundle
from firebolt_operator.tls.render.trust_bundle import read_trust_bundle


def gateway_seen(uid: str, deployment: LiveObject | None, bundle: LiveObject | None) -> GatewaySeen:
    """`uid` is the instance's."""
    own = deployment if deployment is not None and stranger(uid, deployment) is None else None
    return GatewaySeen(
        rollout=_rollout(own) if own else None,
        revisions=_revisions(own.metadata.annotations) if own else {},
        bundle=stored_bundle(uid, bundle),
    )


def _rollout(deployment: LiveObject) -> GatewayRollout:
    template = mapping(mapping(deployment.content.get("spec")).get("template"))
    annotations = mapping(mapping(template.get("metadata")).get("annotations"))
    return GatewayRollout(
        config_hash=text(annotations.get(names.ANNOTATION_CONFIG_HASH)), is_complete=deployment.is_rolled_out
    )


def _revisions(annotations: Mapping[str, str]) -> dict[str, str]:
    parts = (part.partition("=") for part in annotations.get(names.ANNOTATION_TLS_REVISIONS, "").split(","))
    return {name: revision for name, _, revision in parts if revision}


def stored_bundle(uid: str, secret: LiveObject | None) -> TrustBundle:
    """Empty if there is none of the instance's own."""
    if secret is None or stranger(uid, secret) is not None:
        return TrustBundle()
    data = mapping(secret.content.get("data"))
    return read_trust_bundle(secret.metadata.annotations, {key: _decoded(value) for key, value in data.items()})


def _decoded(value: object) -> str:
    try:
        return base64.b64decode(text(value)).decode(errors="replace")
    except ValueError:
        return ""
