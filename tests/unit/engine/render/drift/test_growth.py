"""Drift is found in a time that grows with the template, and no faster: also where the API server dropped much."""

import copy

from firebolt_operator.engine.inputs import EngineInputs
from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.refs import Manifest
from tests.support.engine_inputs import engine_inputs, with_template
from tests.support.growth import STEEPEST, growth

BYTES_OF_A_VOLUME = 20  # at 100 KiB: 5,000 volumes
BUNDLE = {"clusterTrustBundle": {"name": "x", "path": "p"}}


def stored(count: int) -> tuple[Manifest, EngineInputs]:
    """As by an API server that does not know the source of these volumes, and drops it."""
    volumes = [{"name": f"v{number}", "projected": {"sources": [BUNDLE]}} for number in range(count)]
    inputs = engine_inputs(with_template({"volumes": volumes}))
    live = copy.deepcopy(engine_statefulset(inputs, 1))
    owned: Manifest = {}
    for volume in live["spec"]["template"]["spec"]["volumes"]:
        if "projected" in volume:
            volume["projected"]["sources"] = [{}]
            owned[f'k:{{"name":"{volume["name"]}"}}'] = {".": {}, "f:name": {}, "f:projected": {"f:sources": {}}}
    fields = {"f:spec": {"f:template": {"f:spec": {"f:volumes": owned}}}}
    live["metadata"]["managedFields"] = [{"manager": "firebolt-operator", "operation": "Apply", "fieldsV1": fields}]
    return live, inputs


def test_given_ten_times_the_volumes_then_it_takes_about_ten_times_as_long() -> None:
    def read(given: tuple[Manifest, EngineInputs]) -> None:
        assert find_drift(*given) is None

    assert growth(read, lambda size: stored(size // BYTES_OF_A_VOLUME), ()) < STEEPEST
