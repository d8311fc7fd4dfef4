"""Does our idea of a quantity agree with the API server's?"""

import random

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.quantities import canonical_quantity, is_same_quantity
from firebolt_operator.refs import Manifest

EDGES = ["0", "0.5", "1000", "100000m", "1000000e3", "1e20", "0.1n"]
BINARY_EDGES = ["1024Mi", "1.5Gi", "0.5Ki", "0.1Ki", "0.9765625Ki", "0Ki", "1000Ei"]
SUFFIXES = ["", "n", "u", "m", "k", "M", "G", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e3", "E-4", "e+2"]


def test_quantities_are_printed_as_the_api_server_prints_them(control_plane: ControlPlane) -> None:
    texts = EDGES + BINARY_EDGES
    assert [canonical_quantity(text) for text in texts] == printed_by(control_plane, texts)


def test_what_the_api_server_prints_is_our_form_or_the_text_as_it_was_typed(control_plane: ControlPlane) -> None:
    chance = random.Random(20260301)
    texts = [a_quantity(chance) for _ in range(500)]
    for text, printed in zip(texts, printed_by(control_plane, texts), strict=True):
        assert printed in {text, canonical_quantity(text)}
        assert is_same_quantity(printed, text)


def a_quantity(chance: random.Random) -> str:
    whole = chance.randrange(10 ** chance.randrange(1, 12))
    fraction = f".{chance.randrange(10**6)}" if chance.random() < 0.5 else ""
    return f"{whole}{fraction}{chance.choice(SUFFIXES)}"


def printed_by(control_plane: ControlPlane, texts: list[str]) -> list[str]:
    """The size limits of a pod's volumes; nothing is made."""
    answer = control_plane.http.create("/api/v1/namespaces/default/pods?dryRun=All", a_pod(texts))
    return [volume["emptyDir"]["sizeLimit"] for volume in answer["spec"]["volumes"] if "emptyDir" in volume]


def a_pod(size_limits: list[str]) -> Manifest:
    volumes = [{"name": f"volume-{index}", "emptyDir": {"sizeLimit": text}} for index, text in enumerate(size_limits)]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "it"},
        "spec": {"containers": [{"name": "it", "image": "x"}], "volumes": volumes},
    }
