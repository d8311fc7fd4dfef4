"""Objects for policy tests, written as the YAML a person would apply; what a test does not care about is filled in."""

from collections.abc import Iterable
from typing import Any

import msgspec

from firebolt_operator.api.engine import EngineSpec, FireboltEngine
from firebolt_operator.api.instance import FireboltInstance, InstanceSpec
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.policy.field_errors import FieldError
from firebolt_operator.refs import Manifest

AUTH: Manifest = {
    "enabled": True,
    "local": {
        "admin": {"password": {"name": "admin-password", "key": "password"}},
        "signingKeys": {"certManager": {"issuerRef": {"name": "ca"}}},
    },
}


def a_template(*containers: Manifest, metadata: Manifest | None = None, **pod: Any) -> Manifest:
    return {"metadata": metadata or {}, "spec": {"containers": list(containers), **pod}}


def a_container(name: str, **fields: Any) -> Manifest:
    return {"name": name, **fields}


def a_mount(volume: str) -> Manifest:
    return {"name": volume, "mountPath": f"/mnt/{volume}"}


def a_secret_volume(name: str, secret: str) -> Manifest:
    return {"name": name, "secret": {"secretName": secret}}


def an_instance_spec(*, metadata: Manifest | None = None, gateway: Manifest | None = None, **spec: Any) -> InstanceSpec:
    return msgspec.convert({"metadata": metadata or {}, "gateway": gateway or {}, **spec}, InstanceSpec)


def an_instance(*, status: Manifest | None = None, **spec: Any) -> FireboltInstance:
    document = {
        "metadata": {"name": "inst", "namespace": "ns"},
        "spec": {"metadata": {}, "gateway": {}, **spec},
        "status": status or {},
    }
    return msgspec.convert(document, FireboltInstance)


def with_signing_keys(*secrets: str) -> Manifest:
    """The status of an instance that signs with these Secrets."""
    keys = [
        {"id": f"signing-{number}", "secretName": secret, "createdAt": "2026-01-01T00:00:00Z"}
        for number, secret in enumerate(secrets, 1)
    ]
    return {"auth": {"signingKeys": keys}}


def an_engine_spec(template: Manifest | None = None, **spec: Any) -> EngineSpec:
    return msgspec.convert({"instanceRef": "inst", "replicas": 1, "template": template, **spec}, EngineSpec)


def an_engine(name: str = "eng", namespace: str = "ns", **spec: Any) -> FireboltEngine:
    return FireboltEngine(
        metadata=ObjectMeta(name=name, namespace=namespace),
        spec=an_engine_spec(**spec),
    )


def paths(errors: Iterable[FieldError]) -> list[str]:
    return [error.path.text for error in errors]
