"""Are people told what is missing, what to try, and how to clean up?"""

from pathlib import Path

import pytest

from firebolt_local.demo import words
from firebolt_local.demo.secured import Door, Secured
from kubectl_firebolt.picture.recording import longest_tail
from tests.unit.plugin.picture.sample import a_recording

MAKE = words.commands({"MAKELEVEL": "0"})
PLACE = words.Place(
    kubeconfig=Path("/k/config"),
    kubectl=Path("/b/kubectl"),
    page=Path("/p/demo.html"),
    engine="analytics",
    commands=MAKE,
)


def test_without_root_the_reason_the_packages_and_the_way_are_named() -> None:
    told = words.needs_root(["runc", "nftables"], MAKE)
    assert "needs root" in told
    assert "It would also install runc, nftables." in told
    assert "sudo make demo" in told


def test_nothing_is_said_about_packages_that_are_there() -> None:
    assert "install" not in words.needs_root([], MAKE)


@pytest.mark.parametrize(
    ("environment", "clean"),
    [
        pytest.param({"MAKELEVEL": "0"}, "make demo-clean", id="make"),
        pytest.param({"MAKELEVEL": "0", "SUDO_USER": "ann"}, "sudo make demo-clean", id="make-as-root"),
        pytest.param({}, "firebolt-local demo --clean", id="the-installed-program"),
        pytest.param({"SUDO_USER": "ann"}, "sudo firebolt-local demo --clean", id="the-installed-program-as-root"),
    ],
)
def test_people_are_told_to_type_what_they_have(environment: dict[str, str], clean: str) -> None:
    assert words.commands(environment).clean == clean


def test_the_end_shows_the_page_the_next_steps_and_the_way_out() -> None:
    told = words.ending(a_recording(), PLACE, Door("http://10.0.0.1:80/", "10.0.0.1"), seconds=170)
    assert "4,302 queries, 0 failed" in told
    assert "170 s in all" in told
    for words_of_it in (
        "file:///p/demo.html",
        "export KUBECONFIG=/k/config",
        "curl http://10.0.0.1:80/",
        "make demo-clean",
    ):
        assert words_of_it in told


def test_the_end_of_the_secure_demo_tells_how_to_verify_and_to_log_in() -> None:
    door = Door("https://demo-gateway:80/", "10.0.0.1", None, "hidden", {"demo-gateway": "10.0.0.1"})
    told = words.ending(a_recording(), PLACE, door, seconds=170)
    for words_of_it in ("--cacert ca.crt", "--resolve demo-gateway:80:10.0.0.1", "Bearer $TOKEN", "oauth/token"):
        assert words_of_it in told
    assert "hidden" not in told


def test_the_secure_demo_asks_for_tls_on_both_sides_and_a_login_and_keeps_the_password_out_of_the_instance() -> None:
    secured = Secured("planted")
    asked = secured.asked_for({"spec": {"gateway": {}}})
    assert asked["spec"].keys() == {"gateway", "tls", "auth"}
    assert asked["spec"]["tls"].keys() == {"gateway", "engine"}
    assert "planted" not in f"{asked}{secured}"
    holders = [each for each in secured.prerequisites("default") if "planted" in str(each)]
    assert [each["kind"] for each in holders] == ["Secret"]


def test_the_tail_of_a_switch_is_measured_from_the_switch() -> None:
    assert 0.8 < longest_tail(a_recording()) < 1.0
