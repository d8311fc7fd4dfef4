"""Pull policies by image name."""

import pytest

from firebolt_operator.manifests.images import engine_pull_policy, image_tag, kubernetes_pull_policy

DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("image", "engine", "other"),
    [
        ("x:latest", "Always", "Always"),
        ("x", "Always", "Always"),
        ("registry:5000/x", "Always", "Always"),
        ("ghcr.io/firebolt-db/engine", "Always", "Always"),
        (f"x:latest@{DIGEST}", "Always", "Always"),
        ("x:dev", "Always", "IfNotPresent"),
        ("registry:5000/x:dev", "Always", "IfNotPresent"),
        ("x:dev-foo", "IfNotPresent", "IfNotPresent"),
        ("x:1.2.3", "IfNotPresent", "IfNotPresent"),
        (f"x@{DIGEST}", "IfNotPresent", "IfNotPresent"),
        ("Not An Image", "IfNotPresent", "IfNotPresent"),
        ("UPPER", "IfNotPresent", "IfNotPresent"),
        ("", "IfNotPresent", "IfNotPresent"),
    ],
)
def test_given_an_image_then_its_tag_decides(image: str, engine: str, other: str) -> None:
    assert (engine_pull_policy(image), kubernetes_pull_policy(image)) == (engine, other)


@pytest.mark.parametrize(
    ("image", "tag"),
    [
        ("x", "latest"),
        ("a/b/c:t", "t"),
        ("localhost/x", "latest"),
        ("Upper.example/x:v1", "v1"),
        ("[::1]:5000/x:v1", "v1"),
        (f"x:t@{DIGEST}", "t"),
        (f"x@{DIGEST}", ""),
        ("x@sha256:short", ""),
        ("under_score.example/x", "latest"),
        ("x:" + "t" * 129, ""),
        ("0123456789abcdef" * 4, ""),
        ("x:", ""),
    ],
)
def test_given_an_image_then_the_tag_is_read_as_container_tools_read_it(image: str, tag: str) -> None:
    assert image_tag(image) == tag
