"""Which certificates does TLS need? An anchor of trust, one for each generation of an engine, one for the gateway."""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.labels import generation_labels
from firebolt_operator.api.tls import CertManagerSpec, TLSListener
from firebolt_operator.manifests.certificates import SERVING, KeyKind, certificate, named
from firebolt_operator.manifests.components import component_metadata
from firebolt_operator.manifests.owners import Owner, child_metadata
from firebolt_operator.policy.certificate_keys import key_size
from firebolt_operator.refs import Manifest


def anchor_certificate(instance: FireboltInstance, asked: CertManagerSpec) -> Manifest:
    """Its key is mounted nowhere, so its name leads nowhere: with a wildcard it could stand for any engine."""
    name = names.engine_tls_anchor_name(instance.metadata.name)
    metadata = component_metadata(instance, name, names.COMPONENT_ENGINE_TLS)
    host = f"{name}-anchor.{instance.metadata.namespace}.svc.cluster.local"
    return certificate(metadata, asked, SERVING, _kind(asked), named([host]))


def generation_certificate(engine: Owner, generation: int, asked: CertManagerSpec) -> Manifest:
    """For all pods of the generation, however many there are, for the engine's name, and for the UI beside it."""
    domain = f"{engine.namespace}.svc.cluster.local"
    hosts = [
        f"*.{names.headless_service_name(engine.name, generation)}.{domain}",
        f"{names.engine_service_name(engine.name)}.{domain}",
        "localhost",
    ]
    labels = generation_labels(engine.name, generation)
    metadata = child_metadata(engine, names.engine_tls_name(engine.name, generation), labels)
    return certificate(metadata, asked, SERVING, _kind(asked), named(hosts))


def gateway_certificate(instance: FireboltInstance, listener: TLSListener, asked: CertManagerSpec) -> Manifest:
    """Under every name of its Service, and those that its owner adds."""
    metadata = component_metadata(instance, names.gateway_tls_name(instance.metadata.name), names.COMPONENT_GATEWAY_TLS)
    host, namespace = names.gateway_name(instance.metadata.name), instance.metadata.namespace
    suffixes = ("", f".{namespace}", f".{namespace}.svc", f".{namespace}.svc.cluster.local")
    hosts = [*(f"{host}{suffix}" for suffix in suffixes), *listener.dns_names]
    return certificate(metadata, asked, SERVING, _kind(asked), named(hosts))


def _kind(asked: CertManagerSpec) -> KeyKind:
    return KeyKind(algorithm=asked.algorithm, size=key_size(asked))
