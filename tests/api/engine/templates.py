"""Pod templates to try on a real API server: every fragment alone, then random mixtures of them, some with zeros."""

import copy
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import yaml

from firebolt_operator.api.pod_template import pod_template_schema
from firebolt_operator.policy.component_rules import ENGINE
from firebolt_operator.refs import Manifest

Fragments = dict[str, list[Manifest]]
FRAGMENTS: Final[Fragments] = yaml.load((Path(__file__).parent / "fragments.yaml").read_text(), yaml.CSafeLoader)

SCHEMA: Final[Manifest] = pod_template_schema()["properties"]["spec"]
SUPPORT: Final[list[Manifest]] = [
    {"name": "scratch", "emptyDir": {}},
    {"name": "block", "persistentVolumeClaim": {"claimName": "block"}},
]
"""Volumes that container fragments mount."""
CLAIMS: Final[list[Manifest]] = [{"name": "claim", "resourceClaimTemplateName": "some"}]
"""Claims that container fragments use."""

OWNED: Final = frozenset(field.name for field in ENGINE.pod_fields)
OWNED_OF_ENGINE: Final = frozenset(field.name for field in ENGINE.primary_fields)


@dataclass(frozen=True, slots=True)
class Case:
    name: str
    own: Manifest  # the engine's template
    inherited: Manifest | None = None  # the class's
    settings: Manifest = field(default_factory=dict)  # more fields of the engine's spec


def single_cases() -> Iterator[Case]:
    for index, fragment in enumerate(FRAGMENTS["pod"]):
        yield Case(f"pod-{index}", _template(pod=fragment))
    for index, fragment in enumerate(FRAGMENTS["container"]):
        yield Case(f"engine-{index}", _template(containers=[{"name": "engine"} | fragment]))
        yield Case(f"container-{index}", _template(containers=[_sidecar("side", fragment)]))
        yield Case(f"init-{index}", _template(init=[_sidecar("first", {"restartPolicy": "Always"} | fragment)]))
    for index, fragment in enumerate(FRAGMENTS["sidecar"]):
        yield Case(f"sidecar-{index}", _template(containers=[_sidecar("side", fragment)]))
        yield Case(f"init-sidecar-{index}", _template(init=[_sidecar("first", {"restartPolicy": "Always"} | fragment)]))
    for index, fragment in enumerate(FRAGMENTS["volumes"]):
        yield Case(f"volume-{index}", _template(volumes=[{"name": "v"} | fragment]))


def setting_cases() -> Iterator[Case]:
    for index, settings in enumerate(SETTINGS):
        yield Case(f"setting-{index}", {}, settings=settings)


SETTINGS: Final[list[Manifest]] = [
    {"uiSidecar": True},
    {"customEngineConfig": {"logging": {"level": "debug"}}, "metadataEndpointOverride": "m:1"},
    {"storage": {"emptyDir": {"medium": "Memory", "sizeLimit": "1024Mi"}}},
    {"storage": {"emptyDir": {"sizeLimit": 0}}},
    {"storage": {"hostPath": {"path": "/ssd"}}},
    {"storage": {"hostPath": {"path": "/ssd", "type": "DirectoryOrCreate"}}},
    {"storage": {"persistentVolumeClaim": {}}},
    {
        "storage": {
            "persistentVolumeClaim": {"size": "1.5Gi", "storageClassName": "", "accessModes": ["ReadWriteOncePod"]}
        }
    },
    {"storage": {"persistentVolumeClaim": {"size": 1000000000, "storageClassName": "fast"}}},
]


def mixed_cases(seed: int, count: int) -> Iterator[Case]:
    for index in range(count):
        mixer = Mixer(random.Random(f"{seed}-{index}"))
        yield Case(f"mix-{index}", mixer.template("e"), mixer.template("c") if mixer.chance(0.4) else None)


@dataclass(frozen=True, slots=True)
class Mixer:
    rng: random.Random

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def template(self, mark: str) -> Manifest:
        containers = [
            _sidecar(f"{mark}-side{n}", self._mix("container", "sidecar", most=4)) for n in range(self._few())
        ]
        if self.chance(0.6):
            containers.append({"name": "engine"} | self._mix("container", most=4))
        first = {"restartPolicy": "Always"} | self._mix("container", most=3)
        init = [_sidecar(f"{mark}-first", first)] if self.chance(0.3) else []
        names = range(self.rng.randrange(4))
        volumes = [{"name": f"{mark}-v{n}"} | self._one("volumes") for n in names]
        template = _template(
            pod=self._mix("pod", most=4), containers=containers, init=init, volumes=volumes, support=mark == "e"
        )
        if self.chance(0.5):
            self._add_zeros(template["spec"], SCHEMA)
        return template

    def _few(self) -> int:
        return self.rng.choice([0, 1, 1, 2])

    def _one(self, kind: str) -> Manifest:
        return copy.deepcopy(self.rng.choice(FRAGMENTS[kind]))

    def _mix(self, *kinds: str, most: int) -> Manifest:
        mixed: Manifest = {}
        for _ in range(self.rng.randrange(most + 1)):
            mixed |= self._one(self.rng.choice(kinds))
        return mixed

    def _add_zeros(self, node: Any, schema: Manifest) -> None:
        """Here and there a field that is missing, as an empty string, 0, false or an empty object."""
        if isinstance(node, list):
            for element in node:
                self._add_zeros(element, schema["items"])
            return
        if not isinstance(node, dict):
            return
        properties: dict[str, Manifest] = schema.get("properties", {})
        for name, inner in node.items():
            self._add_zeros(inner, properties.get(name, {}))
        missing = sorted(properties.keys() - node.keys() - OWNED - OWNED_OF_ENGINE - {"ephemeralContainers"})
        free = [name for name in missing if name in HARMLESS or properties[name].get("type") != "object"]
        if free and self.chance(0.15):
            name = self.rng.choice(free)
            node[name] = ZEROS.get(properties[name].get("type", ""), 0)


HARMLESS: Final = frozenset(
    [
        "affinity",
        "capabilities",
        "dnsConfig",
        "labelSelector",
        "lifecycle",
        "metadata",
        "namespaceSelector",
        "nodeAffinity",
        "nodeSelector",
        "overhead",
        "podAffinity",
        "podAntiAffinity",
        "resources",
        "seLinuxOptions",
        "securityContext",
        "selector",
        "windowsOptions",
    ]
)
"""Objects that may be empty; of the rest an empty one is mostly refused, being one of several or in need of content."""
ZEROS: Final[dict[str, Any]] = {"string": "", "integer": 0, "boolean": False, "object": {}, "array": []}


def altered(case: Case, seed: int) -> Case:
    """The same case with one field of the engine's template changed, emptied or removed."""
    rng = random.Random(f"{seed}-{case.name}")
    own = copy.deepcopy(case.own)
    *steps, last = rng.choice(list(_places(own["spec"])))
    node: Any = own["spec"]
    for step in steps:
        node = node[step]
    value = node[last]
    if isinstance(value, bool):
        node[last] = not value
    elif isinstance(value, (int, str)) and rng.random() < 0.6:
        node[last] = rng.choice([0, value + 1] if isinstance(value, int) else ["", f"{value}1"])
    else:
        del node[last]
    return Case(f"{case.name}-altered", own)


def _places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where anything stands in a piece of JSON."""
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for step, value in inner:
        yield (*path, step)
        yield from _places(value, (*path, step))


def _template(
    *,
    pod: Manifest | None = None,
    containers: list[Manifest] | None = None,
    init: list[Manifest] | None = None,
    volumes: list[Manifest] | None = None,
    support: bool = True,
) -> Manifest:
    spec: Manifest = {
        **(pod or {}),
        "containers": containers or [],
        "initContainers": init or [],
        "volumes": [*(SUPPORT if support else []), *(volumes or [])],
        "resourceClaims": [*(CLAIMS if support else []), *(pod or {}).get("resourceClaims", [])],
    }
    return {"metadata": {"labels": {"team": "x"}}, "spec": copy.deepcopy(spec)}


def _sidecar(name: str, fields: Manifest) -> Manifest:
    return {"name": name, "image": "some/sidecar:v1"} | fields


def schema_fields(schema: Manifest, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Every field of a schema, by its path; entries of a list have their list's."""
    if "items" in schema:
        return schema_fields(schema["items"], path)
    fields: set[tuple[str, ...]] = set()
    for name, inner in schema.get("properties", {}).items():
        fields |= {(*path, name)} | schema_fields(inner, (*path, name))
    return fields


def used_fields(node: Any, path: tuple[str, ...] = ()) -> set[tuple[str, ...]]:
    """Every field that a piece of JSON has, in the same words."""
    if isinstance(node, list):
        return {field for element in node for field in used_fields(element, path)}
    if not isinstance(node, dict):
        return set()
    return {field for name, inner in node.items() for field in {(*path, name)} | used_fields(inner, (*path, name))}
