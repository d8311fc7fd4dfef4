"""Whole objects of a generation, compared with what is written down in golden/."""

import dataclasses
from pathlib import Path

import pytest
import yaml

from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.config_map import engine_config_map
from firebolt_operator.engine.render.services import engine_service, headless_service
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import INSTANCE, engine_inputs

GOLDEN = Path(__file__).parent / "golden"

FULL_CLASS: Manifest = {
    "template": {
        "metadata": {"labels": {"team": "data", "tier": "shared"}, "annotations": {"owner": "data"}},
        "spec": {
            "serviceAccountName": "shared",
            "nodeSelector": {"disk": "ssd", "zone": "a"},
            "tolerations": [{"key": "dedicated", "operator": "Exists"}],
            "priorityClassName": "high",
            "initContainers": [{"name": "chown", "image": "busybox:1.36"}],
            "containers": [
                {
                    "name": "engine",
                    "imagePullPolicy": "Always",
                    "env": [{"name": "FROM_CLASS", "value": "1"}],
                    "resources": {"requests": {"cpu": "2", "memory": "8Gi"}},
                },
                {"name": "shipper", "image": "shipper:2"},
            ],
            "volumes": [{"name": "scratch", "emptyDir": {}}],
        },
    },
    "storage": {"persistentVolumeClaim": {"size": "100Gi", "storageClassName": "fast"}},
    "customEngineConfig": {"logging": {"level": "info"}, "storage": {"bucket": "shared"}},
}
FULL_SPEC: Manifest = {
    "replicas": 2,
    "uiSidecar": True,
    "metadataEndpointOverride": "metadata.example:7000",
    "customEngineConfig": {"logging": {"level": "debug"}, "engine": {"id": "ignored"}},
    "template": {
        "metadata": {"labels": {"tier": "sales"}},
        "spec": {
            "nodeSelector": {"zone": "b"},
            "tolerations": [{"key": "spot", "operator": "Exists"}],
            "automountServiceAccountToken": False,
            "hostAliases": [{"ip": "10.0.0.9", "hostnames": ["lake"]}],
            "securityContext": {"runAsNonRoot": True},
            "imagePullSecrets": [{"name": "registry"}],
            "containers": [
                {
                    "name": "engine",
                    "image": "ghcr.io/firebolt-db/engine:release-6.0.0",
                    "env": [{"name": "FROM_ENGINE", "valueFrom": {"secretKeyRef": {"name": "own", "key": "k"}}}],
                    "envFrom": [{"configMapRef": {"name": "settings"}}],
                    "lifecycle": {"preStop": {"sleep": {"seconds": 3}}},
                    "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}],
                }
            ],
        },
    },
}
FULL_INSTANCE = dataclasses.replace(
    INSTANCE,
    scheme="https",
    protected_secrets=frozenset({"admin-password"}),
    secret_mounts=(SecretMount(volume="auth-admin", secret="admin-password", path="/secrets/auth/admin"),),
    config_sections={"instance": {"auth": {"enabled": True}}},
    hash_annotations={"firebolt.io/auth-hash": "0123456789abcdef"},
)


@pytest.mark.parametrize(
    ("golden", "inputs", "generation"),
    [
        ("minimal.yaml", engine_inputs(), 0),
        ("full.yaml", engine_inputs(FULL_SPEC, FULL_CLASS, instance=FULL_INSTANCE), 12),
    ],
)
def test_given_an_engine_then_its_objects_are_what_is_written_down(
    golden: str, inputs: EngineInputs, generation: int
) -> None:
    rendered = [
        engine_config_map(inputs, generation),
        headless_service(inputs, generation),
        engine_statefulset(inputs, generation),
        engine_service(inputs, generation),
    ]
    assert rendered == list(yaml.load_all((GOLDEN / golden).read_text(), yaml.CSafeLoader))


def test_given_the_engines_service_then_only_its_selector_names_a_generation() -> None:
    service = engine_service(engine_inputs(), 5)
    assert service["metadata"]["labels"] == {"firebolt.io/engine": "sales"}
    assert service["spec"]["selector"] == {"firebolt.io/engine": "sales", "firebolt.io/generation": "5"}
