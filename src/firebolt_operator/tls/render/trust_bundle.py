"""What does the Secret with the CAs look like that the gateway trusts, and what does one that was read say?

Public texts only. Beside the file that Envoy reads, each CA has a key of its own: a joined text is never taken apart.
"""

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.manifests.reading import decoded, mapping
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.facts import TrustBundle, TrustedAuthority

SUFFIX: Final = ".crt"
MOST_DIGITS: Final = 18


def trust_bundle(instance: FireboltInstance, bundle: TrustBundle) -> Manifest:
    metadata = component_metadata(
        instance, names.engine_ca_bundle_name(instance.metadata.name), names.COMPONENT_ENGINE_CA_BUNDLE
    )
    authorities = sorted(bundle.authorities.items())
    memory = {key: sorted(known.generations) for key, known in authorities}
    annotations = {
        names.ANNOTATION_ENGINE_TRUST_CAS: ",".join(key for key, _ in authorities),
        names.ANNOTATION_ENGINE_TRUST_GENERATIONS: json.dumps(memory, separators=(",", ":")),
        names.ANNOTATION_ENGINE_TRUST_REVISION: str(bundle.revision),
    }
    return {
        "apiVersion": SECRETS.api_version,
        "kind": SECRETS.kind,
        "metadata": {**metadata, "annotations": annotations},
        "data": {
            names.KEY_AUTHORITY: _encoded("\n".join(sorted(known.text for _, known in authorities))),
            **{f"{key}{SUFFIX}": _encoded(known.text) for key, known in authorities},
        },
    }


def read_trust_bundle(annotations: Mapping[str, str], texts: Mapping[str, str]) -> TrustBundle:
    """What has no text, or no generation on record, was not written by us and is not believed."""
    memory = mapping(decoded(annotations.get(names.ANNOTATION_ENGINE_TRUST_GENERATIONS, "")))
    revision = annotations.get(names.ANNOTATION_ENGINE_TRUST_REVISION, "")
    authorities = {
        key: TrustedAuthority(texts[f"{key}{SUFFIX}"], frozenset(_names(known)))
        for key, known in memory.items()
        if texts.get(f"{key}{SUFFIX}")
    }
    return TrustBundle(authorities, _number(revision))


def _number(text: str) -> int:
    """Anybody who may write the Secret may write any number of digits, and Python reads only so many."""
    return int(text) if len(text) <= MOST_DIGITS and text.isdecimal() else 0


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def _names(known: Any) -> list[str]:
    return [name for name in known if isinstance(name, str)] if isinstance(known, list) else []
