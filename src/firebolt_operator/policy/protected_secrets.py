"""Which Secrets and claims does a template reach, and which of them are the operator's own?

Someone who may write a template but not read Secrets must not get at one through a sidecar of their choosing. The sets
cover the whole instance on purpose: a gateway sidecar must not reach a signing key, nor engine A the key of engine B.
What other instances of the namespace own is known by the shape of its name.
"""

import re
from collections.abc import Callable, Collection
from typing import Any, Final

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import TLSListener
from firebolt_operator.manifests.reading import mapping, mappings, text
from firebolt_operator.policy.component_rules import ComponentRules
from firebolt_operator.refs import Manifest

IsProtected = Callable[[str], bool]

VOLUME_SECRETS: Final = {
    "csi": ("nodePublishSecretRef", "name"),
    "azureFile": ("secretName",),
    "cephfs": ("secretRef", "name"),
    "cinder": ("secretRef", "name"),
    "flexVolume": ("secretRef", "name"),
    "iscsi": ("secretRef", "name"),
    "rbd": ("secretRef", "name"),
    "scaleIO": ("secretRef", "name"),
    "storageos": ("secretRef", "name"),
}
GENERATION_TLS_SUFFIX: Final = "-engine-tls"
SIGNING_KEY_MARK: Final = "-auth-signing"
GATEWAY_TLS_SUFFIX: Final = names.gateway_tls_name("")
CREDENTIALS_SUFFIX: Final = names.metadata_credentials_name("")
DATABASE_CLAIM: Final = re.compile(rf"data-.+{re.escape(names.postgres_name(''))}-[0-9]+")
CLONED: Final = ("dataSource", "dataSourceRef")


def volume_secrets(volume: Manifest) -> list[str]:
    """The Secrets a volume reaches, each once."""
    projected = mappings(mapping(volume.get("projected")).get("sources"))
    return _named(
        [
            _text_at(volume, "secret", "secretName"),
            *(_text_at(source, "secret", "name") for source in projected),
            *(_text_at(volume[kind], *keys) for kind, keys in VOLUME_SECRETS.items() if kind in volume),
        ]
    )


def volume_claims(volume: Manifest) -> list[str]:
    """The claims a volume mounts, or is filled from, each once."""
    claim = mapping(_at(volume, "ephemeral", "volumeClaimTemplate", "spec")) if "ephemeral" in volume else {}
    cloned = (mapping(claim.get(key)) for key in CLONED)
    return _named(
        [
            _text_at(volume, "persistentVolumeClaim", "claimName"),
            *(text(source.get("name")) for source in cloned if source.get("kind") == "PersistentVolumeClaim"),
        ]
    )


def container_secrets(container: Manifest) -> list[str]:
    """The Secrets a container reads into its environment, each once."""
    return _named(
        [
            *(_text_at(entry, "valueFrom", "secretKeyRef", "name") for entry in mappings(container.get("env"))),
            *(_text_at(source, "secretRef", "name") for source in mappings(container.get("envFrom"))),
        ]
    )


def instance_secret_names(instance: FireboltInstance) -> list[str]:
    """The operator's Secrets that the instance itself names."""
    spec, status = instance.spec, instance.status
    return _named(
        [
            spec.auth.local.admin.password.name if spec.auth and spec.auth.enabled and spec.auth.local else "",
            *_signing_secrets(instance),
            status.engine_tls.secret_name if status.engine_tls else "",
            status.gateway_tls.secret_name if status.gateway_tls else "",
            _client_ca_name(spec.tls.gateway if spec.tls else None),
            spec.metadata.postgres.credentials_secret_ref.name if spec.metadata.postgres else "",
        ]
    )


def protected_secret_names(instance: FireboltInstance) -> frozenset[str]:
    """Every Secret name that controllers guard; the name shapes come on top (is_protected)."""
    name = instance.metadata.name
    postgres = instance.spec.metadata.postgres
    in_use = postgres.credentials_secret_ref.name if postgres else names.metadata_credentials_name(name)
    made = (names.engine_ca_bundle_name(name), *_certificates_to_come(instance))
    return frozenset(_named([*instance_secret_names(instance), *made, in_use]))


def provisioned_secret_names(instance: FireboltInstance) -> frozenset[str]:
    """Only what the operator makes itself: a gateway certificate of the user's own is in the status, but not here."""
    tls, status = instance.spec.tls, instance.status
    makes_engine = tls is not None and _is_provisioned(tls.engine)
    makes_gateway = tls is not None and _is_provisioned(tls.gateway)
    return frozenset(
        _named(
            [
                *_signing_secrets(instance),
                status.engine_tls.secret_name if status.engine_tls and makes_engine else "",
                status.gateway_tls.secret_name if status.gateway_tls and makes_gateway else "",
                *_certificates_to_come(instance),
            ]
        )
    )


def _certificates_to_come(instance: FireboltInstance) -> list[str]:
    """Before any status names them: whoever refers to one in the first moment would have it for good."""
    name, tls = instance.metadata.name, instance.spec.tls
    asked = (
        (tls.engine if tls else None, names.engine_tls_anchor_name(name)),
        (tls.gateway if tls else None, names.gateway_tls_name(name)),
    )
    return [secret for listener, secret in asked if listener is not None and listener.cert_manager is not None]


def is_protected(name: str, protected: Collection[str]) -> bool:
    """By name, or by shape: the status trails reality, and next generations and next keys are in no list yet."""
    return (
        name in protected
        or is_generation_tls_secret(name)
        or is_signing_key_secret(name)
        or is_gateway_tls_secret(name)
        or is_database_credentials(name)
    )


def reaches_protected(volume: Manifest, protected: Collection[str]) -> bool:
    """Whether rendering leaves the volume out."""
    return any(is_protected(name, protected) for name in volume_secrets(volume)) or any(
        is_database_claim(name) for name in volume_claims(volume)
    )


def keeps_volume(rules: ComponentRules, protected: Collection[str]) -> Callable[[Manifest], bool]:
    """Checks refuse these already; what slips past them neither shadows a volume of ours nor shows a Secret of ours."""
    return lambda volume: not (rules.owns_volume(str(volume.get("name", ""))) or reaches_protected(volume, protected))


def is_generation_tls_secret(name: str) -> bool:
    """The serving certificate of some engine's generation, such as `eng-g4-engine-tls`."""
    return name.endswith(GENERATION_TLS_SUFFIX) and "-g" in name.removesuffix(GENERATION_TLS_SUFFIX)


def is_gateway_tls_secret(name: str) -> bool:
    """The certificate that some instance's gateway serves, such as `inst-gateway-tls`."""
    return name.endswith(GATEWAY_TLS_SUFFIX) and name != GATEWAY_TLS_SUFFIX


def is_signing_key_secret(name: str) -> bool:
    """A signing key of some instance, such as `inst-auth-signing-signing-3`."""
    before, mark, after = name.partition(SIGNING_KEY_MARK)
    return bool(before and mark) and (not after or after.startswith("-"))


def is_database_credentials(name: str) -> bool:
    """The credentials of some instance's internal database, such as `inst-metadata-postgres-creds`."""
    return name.endswith(CREDENTIALS_SUFFIX) and name != CREDENTIALS_SUFFIX


def is_database_claim(name: str) -> bool:
    """The data of some instance's internal database, such as `data-inst-metadata-pg-0`."""
    return DATABASE_CLAIM.fullmatch(name) is not None


def _named(found: list[str]) -> list[str]:
    return list(dict.fromkeys(name for name in found if name))


def _at(node: Any, *keys: str) -> Any:
    for key in keys:
        node = mapping(node).get(key)
    return node


def _text_at(node: Any, *keys: str) -> str:
    return text(_at(node, *keys))


def _signing_secrets(instance: FireboltInstance) -> list[str]:
    auth = instance.status.auth
    return [key.secret_name for key in auth.signing_keys] if auth else []


def _client_ca_name(listener: TLSListener | None) -> str:
    return listener.client_ca_secret_ref.name if listener and listener.client_ca_secret_ref else ""


def _is_provisioned(listener: TLSListener | None) -> bool:
    return listener is not None and listener.secret_ref is None
