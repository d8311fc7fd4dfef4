import pytest

from firebolt_operator.manifests.images import component_pull_policy, workload_pull_policy

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param("envoyproxy/envoy:v1.37.2", "IfNotPresent", id="a-tag-stands-still"),
        pytest.param("envoyproxy/envoy:latest", "Always", id="latest-moves"),
        pytest.param("envoyproxy/envoy", "Always", id="no-tag-means-latest"),
        pytest.param("host:5000/img", "Always", id="a-port-is-not-a-tag"),
        pytest.param("host:5000/img:v1", "IfNotPresent", id="a-tag-after-a-port"),
        pytest.param("[::1]:5000/img:latest", "Always", id="an-address-with-a-port"),
        pytest.param(f"host/img@{DIGEST}", "IfNotPresent", id="a-digest-stands-still"),
        pytest.param(f"host/img:latest@{DIGEST}", "IfNotPresent", id="a-digest-outranks-latest"),
        pytest.param("host/img:dev", "IfNotPresent", id="dev-is-an-ordinary-tag-for-others"),
        pytest.param("", "IfNotPresent", id="empty-is-unparsable"),
        pytest.param("Not An Image", "IfNotPresent", id="unparsable"),
        pytest.param("img:a:b", "IfNotPresent", id="two-tags-are-unparsable"),
        pytest.param("img\n", "IfNotPresent", id="a-line-break-is-unparsable"),
    ],
)
def test_pull_policy(image: str, expected: str) -> None:
    assert component_pull_policy(image) == expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param("ghcr.io/firebolt-db/metadata:dev", "Always", id="dev-moves"),
        pytest.param("ghcr.io/firebolt-db/metadata:dev-uptest", "IfNotPresent", id="dev-something-does-not"),
        pytest.param(f"ghcr.io/firebolt-db/metadata:dev@{DIGEST}", "IfNotPresent", id="a-digest-outranks-dev"),
        pytest.param("ghcr.io/firebolt-db/metadata:latest", "Always", id="latest-moves-too"),
        pytest.param("ghcr.io/firebolt-db/metadata:release-5.0.1", "IfNotPresent", id="a-release-stands-still"),
    ],
)
def test_workload_pull_policy(image: str, expected: str) -> None:
    assert workload_pull_policy(image) == expected
