"""Whole objects of an instance, compared with what is written down in golden/."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from firebolt_operator.api.instance import FireboltInstance, InstanceStatus
from firebolt_operator.api.tls import GatewayTLSStatus
from firebolt_operator.instance.render.metadata_service import (
    metadata_config_map,
    metadata_deployment,
    metadata_service,
)
from firebolt_operator.instance.render.postgres import postgres_credentials, postgres_service, postgres_statefulset
from firebolt_operator.instance.render.renderer import InstanceRenderer
from firebolt_operator.manifests.hashes import content_hash
from firebolt_operator.refs import Manifest
from firebolt_operator.tls.facts import SecretRevisions
from tests.support.instances import EXTERNAL, IMAGES, NOON, PASSWORD, an_instance

GOLDEN = Path(__file__).parent / "golden"
UNCONFINED = {"seccompProfile": {"type": "Unconfined"}}


def golden(name: str) -> list[Manifest]:
    return list(yaml.load_all((GOLDEN / name).read_text(), yaml.CSafeLoader))


def pod_of(**spec: Any) -> Manifest:
    pod: Manifest = metadata_deployment(an_instance(**spec), "metadata:1.0")["spec"]["template"]["spec"]
    return pod


def pod_with_template(**pod_spec: Any) -> Manifest:
    return pod_of(metadata={"template": {"spec": pod_spec}})


def test_postgres_objects() -> None:
    instance = an_instance()
    rendered = [
        postgres_credentials(instance, PASSWORD),
        postgres_statefulset(instance, "postgres:16-alpine"),
        postgres_service(instance),
    ]
    assert rendered == golden("postgres.yaml")


def test_given_size_and_resources_when_rendered_then_the_database_has_just_these() -> None:
    storage = {"size": "20Gi", "resources": {"requests": {"cpu": 1}, "limits": {"memory": "2Gi"}}}
    spec = postgres_statefulset(an_instance(metadata={"postgresStorage": storage}), "postgres:16-alpine")["spec"]
    (claim,) = spec["volumeClaimTemplates"]
    assert claim["spec"]["resources"] == {"requests": {"storage": "20Gi"}}
    (container,) = spec["template"]["spec"]["containers"]
    assert container["resources"] == {"requests": {"cpu": 1}, "limits": {"memory": "2Gi"}}


def test_metadata_objects() -> None:
    instance = an_instance()
    rendered = [
        metadata_config_map(instance),
        metadata_deployment(instance, "metadata:1.0"),
        metadata_service(instance),
    ]
    assert rendered == golden("metadata.yaml")


def test_given_verified_tls_when_rendered_then_only_the_selected_key_is_mounted() -> None:
    authority = {"caSecretRef": {"name": "db-ca", "key": "root.pem"}}
    pod = pod_of(metadata={"postgres": {**EXTERNAL, "tls": authority}})
    assert pod["volumes"][-1] == {
        "name": "postgres-ca",
        "secret": {"secretName": "db-ca", "items": [{"key": "root.pem", "path": "ca.crt"}]},
    }
    (container,) = pod["containers"]
    assert container["volumeMounts"][-1] == {
        "name": "postgres-ca",
        "mountPath": "/secrets/postgres-ca",
        "readOnly": True,
    }
    assert container["env"][-2:] == [
        {"name": "PGSSLMODE", "value": "verify-full"},
        {"name": "PGSSLROOTCERT", "value": "/secrets/postgres-ca/ca.crt"},
    ]


def test_the_hash_follows_what_is_read_from_secrets_of_others() -> None:
    instance = an_instance(metadata={"postgres": EXTERNAL})

    def annotated(digest: str) -> str:
        template = metadata_deployment(instance, "metadata:1.0", digest)["spec"]["template"]
        return str(template["metadata"]["annotations"]["firebolt.io/config-hash"])

    assert len({annotated(""), annotated("a"), annotated("b")}) == 3
    assert annotated("a") == annotated("a")


def test_given_a_database_of_the_users_own_when_rendered_then_only_the_login_is_mounted() -> None:
    volumes = pod_of(metadata={"postgres": EXTERNAL})["volumes"]
    items = [{"key": key, "path": key} for key in ("username", "password")]
    assert volumes[1] == {"name": "postgres-creds", "secret": {"secretName": "db-login", "items": items}}


def test_given_yaml_when_rendered_then_the_key_and_the_command_follow() -> None:
    instance = an_instance(metadata={"configFormat": "YAML"})
    container = metadata_deployment(instance, "m:1")["spec"]["template"]["spec"]["containers"][0]
    assert list(metadata_config_map(instance)["data"]) == ["config.yaml"]
    assert container["command"] == ["/dedicated-pensieve", "--config", "/configs/config.yaml"]


def test_given_the_next_generation_when_rendered_then_user_and_hash_change_but_not_the_image() -> None:
    old, new = (
        metadata_deployment(an_instance(metadataNG=is_new), "m:1")["spec"]["template"] for is_new in (False, True)
    )
    assert new["metadata"]["annotations"] != old["metadata"]["annotations"]
    assert new["spec"]["securityContext"]["runAsUser"] == new["spec"]["securityContext"]["runAsGroup"] == 1112
    assert new["spec"]["containers"][0]["securityContext"]["runAsUser"] == 1112
    assert new["spec"]["containers"][0]["image"] == old["spec"]["containers"][0]["image"]


def test_the_pod_rolls_when_its_configuration_changes() -> None:
    instance = an_instance(metadata={"postgres": EXTERNAL})
    annotations = metadata_deployment(instance, "m:1")["spec"]["template"]["metadata"]["annotations"]
    text = metadata_config_map(instance)["data"]["config.xml"]
    assert annotations == {"firebolt.io/config-hash": content_hash(text)}


@pytest.mark.parametrize(
    ("chosen", "seccomp"),
    [
        pytest.param({}, {"type": "RuntimeDefault"}, id="absent-is-raised"),
        pytest.param(UNCONFINED, {"type": "RuntimeDefault"}, id="unconfined-is-raised"),
        pytest.param({"seccompProfile": {}}, {"type": "RuntimeDefault"}, id="empty-is-raised"),
        pytest.param(
            {"seccompProfile": {"type": "Localhost", "localhostProfile": "strict.json"}},
            {"type": "Localhost", "localhostProfile": "strict.json"},
            id="a-profile-of-the-users-own-stays",
        ),
    ],
)
def test_the_metadata_pods_security_is_a_floor(chosen: Manifest, seccomp: Manifest) -> None:
    root = {"runAsNonRoot": False, "runAsUser": 0, "runAsGroup": 0, "fsGroup": 7, "supplementalGroups": [8]}
    assert pod_with_template(securityContext={**root, **chosen})["securityContext"] == {
        "runAsNonRoot": True,
        "runAsUser": 1111,
        "runAsGroup": 1111,
        "fsGroup": 7,
        "supplementalGroups": [8],
        "seccompProfile": seccomp,
    }


def test_given_a_template_when_rendered_then_it_passes_through_around_the_operators_fields() -> None:
    pod = pod_with_template(
        serviceAccountName="mine",
        dnsPolicy="None",
        nodeSelector={"disk": "ssd"},
        automountServiceAccountToken=True,
        volumes=[{"name": "cache", "emptyDir": {}}, {"name": "tmp", "hostPath": {"path": "/"}}],
        containers=[{"name": "shipper", "image": "s:1"}, {"name": "metadata", "resources": {"limits": {"cpu": "1"}}}],
    )
    assert (pod["serviceAccountName"], pod["dnsPolicy"], pod["nodeSelector"]) == ("mine", "None", {"disk": "ssd"})
    assert pod["automountServiceAccountToken"] is False
    assert [volume["name"] for volume in pod["volumes"]] == ["config", "postgres-creds", "tmp", "cache"]
    assert [container["name"] for container in pod["containers"]] == ["metadata", "shipper"]
    assert pod["containers"][0]["resources"] == {"limits": {"cpu": "1"}}


@pytest.mark.parametrize(
    ("container", "policy"),
    [
        pytest.param({}, "IfNotPresent", id="the-default-image"),
        pytest.param({"image": "mine:dev"}, "Always", id="dev-moves"),
        pytest.param({"image": "mine"}, "Always", id="no-tag-means-latest"),
        pytest.param({"image": "mine:dev-2"}, "IfNotPresent", id="another-tag"),
        pytest.param({"image": "mine:dev", "imagePullPolicy": "Never"}, "Never", id="the-users-word-counts"),
    ],
)
def test_the_pull_policy_follows_the_image_in_use(container: Manifest, policy: str) -> None:
    pod = pod_with_template(containers=[{"name": "metadata", **container}])
    assert pod["containers"][0]["imagePullPolicy"] == policy


OWN: Manifest = {"gateway": {"enabled": True, "secretRef": {"name": "own"}}}


def secured() -> FireboltInstance:
    recorded = GatewayTLSStatus(secret_name="own", created_at=NOON, mode="TLS")
    return an_instance(tls=OWN, status=InstanceStatus(gateway_tls=recorded))


def revised(**known: str) -> SecretRevisions:
    return SecretRevisions(known=known)


def test_what_the_gateway_was_started_for_is_written_on_its_deployment() -> None:
    renderer = InstanceRenderer(secured(), IMAGES)

    def deployment(**known: str) -> Manifest:
        pieces = renderer.gateway(revised(**known))
        return next(piece.manifest for piece in pieces if piece.what == "gateway deployment")

    one, other = deployment(own="1"), deployment(own="2")
    assert one["metadata"]["annotations"] == {"firebolt.io/tls-revisions": "own=1"}
    assert one["spec"]["template"] != other["spec"]["template"]
    assert deployment(own="1") == one


def test_a_gateway_that_would_be_given_something_else_has_another_hash() -> None:
    instance = secured()
    renderer, recorded = InstanceRenderer(instance, IMAGES), instance.status.gateway_tls
    asked = [(status, revised(own=text)) for status in (recorded, None) for text in ("1", "2")]
    hashes = [renderer.gateway_hash(*each) for each in asked]
    assert len({*hashes}) == 3  # one that is closed mounts nothing
    assert hashes == [renderer.gateway_hash(*each) for each in asked]
