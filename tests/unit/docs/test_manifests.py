"""Would the API server and the webhooks take every manifest of the pages and of examples/?"""

from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from firebolt_operator.api.crds import KINDS
from firebolt_operator.refs import Manifest
from tests.support.docs_blocks import REPOSITORY, manifests
from tests.support.structural import problems, schemas
from tests.unit.admission.rig import Rig, a_review, message

SCHEMAS = schemas()
PLURALS = {kind.resource.kind: kind.resource.plural for kind in KINDS}
NEEDED: dict[str, Manifest] = {
    "FireboltEngine": {"instanceRef": "demo"},
    "FireboltEngineClass": {"template": {}},
    "FireboltEnginePreset": {"template": {}},
    "ClusterFireboltEngineClass": {"template": {}},
    "FireboltInstance": {"metadata": {}, "gateway": {}},
}
"""What a part of a spec leaves out, because the page shows the rest elsewhere."""
REFUSED = {"docs/admission.md:1"}
"""Written to be refused: the page shows what is said then."""


@dataclass(frozen=True, slots=True)
class Shown:
    place: str
    document: Manifest

    def __str__(self) -> str:
        return self.place


def _shown() -> list[Shown]:
    pages = [(str(block), block.text) for block in manifests()]
    files = [(path.name, path.read_text()) for path in sorted(REPOSITORY.glob("examples/*.yaml"))]
    return [
        Shown(place, document) for place, text in [*pages, *files] for document in yaml.load_all(text, yaml.CSafeLoader)
    ]


SHOWN = _shown()
WHOLE = [shown for shown in SHOWN if shown.document.get("kind") in SCHEMAS]
PARTS = [shown for shown in SHOWN if set(shown.document) == {"spec"}]


@pytest.mark.parametrize("shown", WHOLE, ids=str)
def test_a_whole_object_has_the_structure_of_its_kind(shown: Shown) -> None:
    assert list(problems(shown.document, SCHEMAS[shown.document["kind"]])) == []


@pytest.mark.parametrize("shown", PARTS, ids=str)
def test_a_part_of_a_spec_fits_one_of_our_kinds(shown: Shown) -> None:
    found = {kind: list(problems(_completed(kind, shown.document), schema)) for kind, schema in SCHEMAS.items()}
    assert [] in found.values(), found


@pytest.mark.parametrize("shown", WHOLE, ids=str)
async def test_a_whole_object_is_admitted_and_what_is_said_of_it_stands_in_its_page(shown: Shown) -> None:
    kind = shown.document["kind"]
    document = shown.document | {"metadata": shown.document["metadata"] | {"namespace": "ns"}}
    async with Rig() as rig:
        rig.reader.put("fireboltengineclasses", "small", spec={"template": {}})
        rig.reader.put("clusterfireboltengineclasses", "medium", namespace="", spec={"template": {}})
        rig.reader.put("fireboltinstances", "demo", spec={"metadata": {}, "gateway": {}})
        answer = await rig.ask("validate", kind.lower(), a_review(PLURALS[kind], "CREATE", document))
    path = REPOSITORY / shown.place.partition(":")[0]
    page = path.read_text() if path.exists() else ""
    if shown.place in REFUSED:
        assert message(answer).strip("[]") in page
    else:
        assert answer["allowed"], message(answer)
        assert [warning for warning in answer.get("warnings", ()) if warning not in page] == []


def test_the_pages_have_such_blocks() -> None:
    places = {shown.place for shown in SHOWN}
    assert places >= REFUSED
    assert len(WHOLE) >= 20
    assert len(PARTS) >= 3


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param({"replcas": 2}, ".spec.replcas: unknown field", id="a-misspelt-field"),
        pytest.param({"replicas": "two"}, ".spec.replicas: 'two' is no integer", id="a-word-for-a-number"),
        pytest.param({"replicas": 1001}, ".spec.replicas: 1001 is out of range", id="too-many"),
        pytest.param(
            {"rollout": "slow"}, ".spec.rollout: 'slow' is none of ['graceful', 'recreate']", id="no-such-choice"
        ),
        pytest.param({"autoStop": {"enabled": True}}, ".spec.autoStop.activeReplicas: required", id="a-missing-field"),
    ],
)
def test_what_is_wrong_is_found(change: dict[str, Any], expected: str) -> None:
    engine = _completed("FireboltEngine", {"spec": change})
    assert list(problems(engine, SCHEMAS["FireboltEngine"])) == [expected]


def test_every_engine_of_the_examples_says_where_its_tables_are() -> None:
    """Without object storage Firebolt's engine does not start; a class may say it for its engines."""
    kinds = {"FireboltEngine", "FireboltEngineClass"}
    examples = [shown for shown in WHOLE if shown.place.endswith(".yaml") and shown.document["kind"] in kinds]
    assert len(examples) >= 10
    concerned = [shown for shown in examples if "engineClassRef" not in shown.document["spec"]]
    assert [shown.place for shown in concerned if not _storage(shown.document)] == []


def _storage(document: Manifest) -> object:
    return document["spec"].get("customEngineConfig", {}).get("storage", {}).get("managed_table_bucket_name")


def _completed(kind: str, document: Manifest) -> Manifest:
    spec = NEEDED[kind] | document["spec"]
    return {"apiVersion": "compute.firebolt.io/v1alpha1", "kind": kind, "metadata": {"name": "it"}, "spec": spec}
