import pytest

from firebolt_operator.manifests.releases import FLOOR, Age, age

OLDER = "release-5.0.0-pre.0.20260822175432.75d37cc26c66"
DIGEST = "sha256:" + "0123456789abcdef" * 4


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        pytest.param(OLDER, Age.NEW, id="the-floor-itself"),
        pytest.param("dev", Age.NEW, id="dev"),
        pytest.param("latest", Age.OLD, id="latest"),
        pytest.param("not-a-release-tag", Age.OLD, id="no-release-at-all"),
        pytest.param("release-5.0.0-pre.0.20260822175432.aaaaaaaaaaaa", Age.NEW, id="same-time-other-commit"),
        pytest.param("release-5.0.0-pre.0.20260822175431.75d37cc26c66", Age.OLD, id="a-second-earlier"),
        pytest.param(
            "release-5.0.0-pre.1.20250101000000.aaaaaaaaaaaa", Age.NEW, id="the-preview-counts-before-the-time"
        ),
        pytest.param("release-5.0.0", Age.NEW, id="final-is-newer-than-any-preview"),
        pytest.param("release-5.1.0-pre.0.20260101000000.aaaaaaaaaaaa", Age.NEW, id="a-higher-minor"),
        pytest.param("release-5.0.1", Age.NEW, id="a-higher-patch"),
        pytest.param("release-6.0.0-pre.0.20200101000000.a", Age.NEW, id="a-higher-major"),
        pytest.param("release-4.32.0", Age.OLD, id="a-lower-major"),
        pytest.param("release-4.99.99-pre.9.20990101000000.a", Age.OLD, id="the-first-difference-decides"),
        pytest.param("debug-5.0.0-pre.0.20260822175432.a", Age.NEW, id="debug-like-release"),
        pytest.param("debug-5.0.0-pre.0.20260822175431.a", Age.OLD, id="an-older-debug"),
        pytest.param("release-5.0.1-0.20260713060957.513515666721", Age.OLD, id="without-pre-nothing-is-told"),
        pytest.param("release-5.0.0-rc1", Age.OLD, id="another-suffix"),
        pytest.param("release-5.0", Age.OLD, id="two-numbers"),
        pytest.param("xrelease-5.1.0", Age.OLD, id="something-before-it"),
        pytest.param("release-" + "9" * 200 + ".0.0", Age.OLD, id="no-number-of-this-world"),
    ],
)
def test_against_an_older_floor(tag: str, expected: Age) -> None:
    assert age(f"ghcr.io/firebolt-db/engine:{tag}", OLDER) is expected


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        pytest.param(f"ghcr.io/firebolt-db/engine@{DIGEST}", Age.UNTOLD, id="a-digest-alone"),
        pytest.param(f"ghcr.io/firebolt-db/engine:{FLOOR}@{DIGEST}", Age.NEW, id="a-tag-beside-a-digest"),
        pytest.param("ghcr.io/firebolt-db/engine", Age.OLD, id="no-tag"),
        pytest.param("", Age.OLD, id="nothing"),
        pytest.param("host:5000/engine", Age.OLD, id="a-port-is-no-tag"),
        pytest.param(f"host:5000/engine:{FLOOR}", Age.NEW, id="the-floor"),
        pytest.param(f"host:5000/engine:{OLDER}", Age.OLD, id="below-the-floor"),
    ],
)
def test_images(image: str, expected: Age) -> None:
    assert age(image) is expected
