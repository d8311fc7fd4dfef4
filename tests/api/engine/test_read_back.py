"""Does what we render match itself once an API server has stored it, whatever a template asks for?

The only judge of what the API server fills in, rewrites or drops is the API server: every template goes through our
CRD, is rendered, applied and read back, and must then show no drift.
"""

import asyncio
import dataclasses
import json
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable

import pytest

from firebolt_local.cluster.control_plane import ControlPlane
from firebolt_operator.api.names import GROUP, VERSION
from firebolt_operator.api.resources import FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, STATEFULSETS
from firebolt_operator.api.serialise import parse_engine, parse_engine_class
from firebolt_operator.engine.inputs import ClassInfo, EngineInputs
from firebolt_operator.engine.render.drift.statefulset import find_drift
from firebolt_operator.engine.render.statefulset import engine_statefulset
from firebolt_operator.errors import RejectedError
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.credentials import load_credentials
from firebolt_operator.manifests.images import kubernetes_pull_policy
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.refs import Manifest, Ref, Resource
from tests.api.engine.templates import (
    FRAGMENTS,
    OWNED,
    SCHEMA,
    Case,
    altered,
    mixed_cases,
    schema_fields,
    setting_cases,
    single_cases,
    used_fields,
)
from tests.support.drift_rows import CHANGED, CLASS, EDITS, HARMLESS, HARMLESS_EDITS, SPEC, touched
from tests.support.engine_inputs import IMAGES, INSTANCE, engine_inputs
from tests.support.live import changed

SEED = 20
MIXED = 330
ALTERED = 220
AT_ONCE = 8
GENERATION = 3
PARTS = ("containers", "initContainers", "volumes")
REFUSED = {
    path for path in schema_fields(SCHEMA) if path[0] == "ephemeralContainers" or path == ("resources", "claims")
}
"""What Kubernetes takes in no template at all; paths of at most two steps."""

IMAGE_NAMES = (
    "x",
    "x:latest",
    "x:dev",
    "registry:5000/x",
    "Upper.example/x",
    "Upper/x",
    "UPPER",
    "under_score.example/x",
    "x:latest@sha256:" + "0" * 64,
    "x@sha256:" + "0" * 64,
    "x:latest@sha256:" + "0" * 63,
    "0" * 64,
    "[::1]:5000/x",
    "a--b/c__d.e",
    "a---b/c_.d",
    "-x",
    "x:" + "t" * 128,
    "x:" + "t" * 129,
    "x:",
)


@pytest.fixture
async def client(crds: None, control_plane: ControlPlane) -> AsyncGenerator[KubeClient]:  # noqa: ARG001 - for its effect
    async with KubeClient.from_credentials(load_credentials(str(control_plane.kubeconfig), {})) as door:
        yield door


class Bench:
    """Takes cases through the API server, one engine each."""

    def __init__(self, client: KubeClient, namespace: str) -> None:
        self.client = client
        self.namespace = namespace
        self.instance = INSTANCE
        self.accepted: list[str] = []
        self.refused: dict[str, str] = {}
        self.drifted: dict[str, str] = {}

    async def each(self, work: Callable[[Case], Awaitable[None]], cases: Iterable[Case]) -> None:
        waiting = iter(cases)

        async def worker() -> None:
            for case in waiting:
                await work(case)

        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(worker())

    async def read_back(self, case: Case) -> None:
        try:
            inputs, live = await self.stored(case)
        except RejectedError as err:
            self.refused[case.name] = str(err)
            return
        self.accepted.append(case.name)
        drift = find_drift(live, inputs)
        if drift is not None:
            self.drifted[case.name] = drift

    async def stored(self, case: Case) -> tuple[EngineInputs, Manifest]:
        inputs = await self.inputs(case)
        await self.client.apply(engine_statefulset(inputs, GENERATION))
        return inputs, await self.live(inputs)

    async def live(self, inputs: EngineInputs) -> Manifest:
        return await self._get(STATEFULSETS, f"{inputs.name}-g{GENERATION}")

    async def inputs(self, case: Case) -> EngineInputs:
        """As the operator gets to see them: stored by the API server, with its defaults and without unknown fields."""
        engine_class = await self._class(case)
        spec = {"instanceRef": "main", "replicas": 0, "template": case.own} | case.settings
        await self.client.create(self._ours(FIREBOLT_ENGINES, case.name, spec))
        engine = parse_engine(await self._get(FIREBOLT_ENGINES, case.name))
        assert engine.spec is not None
        return EngineInputs(
            name=case.name,
            namespace=self.namespace,
            uid=engine.metadata.uid,
            spec=engine.spec,
            engine_class=engine_class,
            instance=self.instance,
            images=IMAGES,
        )

    async def _class(self, case: Case) -> ClassInfo | None:
        if case.inherited is None:
            return None
        await self.client.create(self._ours(FIREBOLT_ENGINE_CLASSES, case.name, {"template": case.inherited}))
        stored = parse_engine_class(await self._get(FIREBOLT_ENGINE_CLASSES, case.name))
        assert stored.spec is not None
        return ClassInfo(name=case.name, spec=stored.spec)

    async def _get(self, resource: Resource, name: str) -> Manifest:
        found = await self.client.get(Ref(resource, self.namespace, name))
        assert found is not None
        return found

    def _ours(self, resource: Resource, name: str, spec: Manifest) -> Manifest:
        metadata = {"name": name, "namespace": self.namespace}
        return {"apiVersion": f"{GROUP}/{VERSION}", "kind": resource.kind, "metadata": metadata, "spec": spec}


@pytest.fixture
def bench(client: KubeClient, namespace: str) -> Bench:
    return Bench(client, namespace)


def test_given_the_fragments_then_they_name_every_field_that_is_not_the_operators() -> None:
    wanted = {path for path in schema_fields(SCHEMA) if path[0] not in OWNED and path[:2] not in REFUSED}
    used = {
        *((part,) for part in PARTS),
        *((part, "name") for part in PARTS),
        *used_fields(FRAGMENTS["pod"]),
        *used_fields(FRAGMENTS["volumes"], ("volumes",)),
        *(path for kind in ("container", "sidecar") for path in used_fields(FRAGMENTS[kind], ("containers",))),
        *(path for kind in ("container", "sidecar") for path in used_fields(FRAGMENTS[kind], ("initContainers",))),
    }
    assert sorted(".".join(path) for path in wanted - used) == []


async def test_given_each_fragment_alone_then_it_is_stored_without_drift(bench: Bench) -> None:
    await bench.each(bench.read_back, single_cases())
    print(f"\nfragments: {len(bench.accepted)} accepted, {len(bench.refused)} refused")
    assert bench.drifted == {}
    assert bench.refused == {}


async def test_given_each_setting_of_an_engine_then_it_is_stored_without_drift(bench: Bench) -> None:
    secret = SecretMount(volume="auth-admin", secret="admin", path="/secrets/auth/admin", keys=("password",))
    bench.instance = dataclasses.replace(
        INSTANCE,
        secret_mounts=(secret,),
        hash_annotations={"firebolt.io/auth-hash": "0123456789abcdef"},
        scheme="https",
    )
    await bench.each(bench.read_back, setting_cases())
    assert (bench.drifted, bench.refused) == ({}, {})


@pytest.mark.slow
async def test_given_300_mixtures_that_kubernetes_accepts_then_none_drifts(bench: Bench) -> None:
    await bench.each(bench.read_back, mixed_cases(SEED, MIXED))
    print(f"\nmixtures: {len(bench.accepted)} accepted, {len(bench.refused)} refused by Kubernetes")
    for words, count in Counter(str(each).rpartition(": ")[2][:70] for each in bench.refused.values()).most_common(8):
        print(f"  {count:4} {words}")
    assert bench.drifted == {}
    assert len(bench.accepted) >= 300


def stored_template(inputs: EngineInputs, live: Manifest) -> Manifest:
    """The pod template that the API server holds, without the engine's name and without what never counts."""
    text = json.dumps(live["spec"]["template"])
    template: Manifest = json.loads(text.replace(f"{inputs.name}-g", "-g").replace(f'"{inputs.name}"', '""'))
    pod = template["spec"]
    if pod["dnsPolicy"] == "ClusterFirstWithHostNet":
        pod["dnsPolicy"] = "ClusterFirst"  # the same in a pod that does not use its node's network
    for container in [*pod["containers"], *pod.get("initContainers", [])]:
        if container.get("securityContext", {}).get("procMount") == "Default":
            del container["securityContext"]["procMount"]
    return template


@pytest.mark.slow
async def test_given_one_altered_field_then_drift_says_what_the_api_server_says(bench: Bench) -> None:
    """The judge is what the server holds of both: drift if and only if the two pod templates differ."""
    seen: Counter[str] = Counter()
    wrong: dict[str, str] = {}

    async def judge(case: Case) -> None:
        other = altered(case, SEED)
        try:
            (inputs, live), (wanted, there) = await bench.stored(case), await bench.stored(other)
        except RejectedError:
            seen["refused"] += 1
            return
        drift = find_drift(live, dataclasses.replace(wanted, name=inputs.name))
        is_same = stored_template(inputs, live) == stored_template(wanted, there)
        seen["same" if is_same else "different"] += 1
        if is_same != (drift is None):
            wrong[case.name] = drift or f"no drift, but stored {there['spec']['template']}"

    await bench.each(judge, (Case(case.name, case.own) for case in mixed_cases(SEED, ALTERED)))
    print(f"\naltered fields: {dict(seen)}")
    assert wrong == {}
    assert seen["different"] > 100


async def test_given_a_field_that_is_switched_off_then_it_starts_one_generation_and_no_more(bench: Bench) -> None:
    group: Manifest = {"spec": {"schedulingGroup": {"podGroupName": "group"}}}
    before, live = await bench.stored(Case("plain", {"spec": {}}))
    wanted = dataclasses.replace(before, spec=(await bench.inputs(Case("grouped", group))).spec)
    assert find_drift(live, wanted) == "spec.template.spec.schedulingGroup.podGroupName: live nothing, wanted group"
    await bench.client.apply(engine_statefulset(wanted, GENERATION))
    live = await bench.live(wanted)
    assert "schedulingGroup" not in live["spec"]["template"]["spec"]
    assert find_drift(live, wanted) is None


@pytest.mark.parametrize(
    ("patch", "where"),
    [
        ({"nodeSelector": None}, "nodeSelector.disk"),
        ({"nodeSelector": {"disk": "hdd"}}, "nodeSelector.disk"),
        ({"tolerations": [{"key": "a"}]}, "tolerations[0].operator"),
        ({"priorityClassName": None}, "priorityClassName"),
        ({"securityContext": {"fsGroup": None}}, "securityContext.fsGroup"),
    ],
)
async def test_given_an_edit_behind_our_back_then_it_is_drift(
    bench: Bench, control_plane: ControlPlane, patch: Manifest, where: str
) -> None:
    """Ownership excuses what the server dropped, never what somebody removed."""
    pod = {
        "nodeSelector": {"disk": "ssd"},
        "tolerations": [{"key": "a", "operator": "Exists"}],
        "priorityClassName": "p",
    }
    inputs, _ = await bench.stored(Case("edited", {"spec": pod}))
    path = f"/apis/apps/v1/namespaces/{bench.namespace}/statefulsets/edited-g{GENERATION}"
    control_plane.http.patch(path, {"spec": {"template": {"spec": patch}}})
    drift = find_drift(await bench.live(inputs), inputs)
    assert drift is not None
    assert drift.startswith(f"spec.template.spec.{where}: ")


ROWS = Case(
    "rows",
    SPEC["template"],
    inherited=CLASS["template"],
    settings={name: value for name, value in SPEC.items() if name != "template"},
)


def told(drift: str | None) -> str | None:
    return drift.partition(": ")[0] if drift else None


async def test_given_every_row_then_what_the_api_server_stores_drifts_just_so(
    bench: Bench, control_plane: ControlPlane
) -> None:
    """Somebody's edit, as the server would store it; what it would refuse is judged as it stands."""
    inputs, live = await bench.stored(ROWS)
    assert find_drift(live, inputs) is None
    path = (
        f"/apis/apps/v1/namespaces/{bench.namespace}/statefulsets/rows-g{GENERATION}?dryRun=All&fieldManager=somebody"
    )
    seen, wrong = Counter[str](), dict[str, tuple[str | None, str | None]]()
    rows: list[tuple[str, object, str | None]] = [*CHANGED, *((where, value, None) for where, value in HARMLESS)]
    for where, value, expected in rows:
        edited = touched(live, where, value)
        del edited["metadata"]["resourceVersion"]  # the StatefulSet's controller goes on writing its status
        status, body = control_plane.http.text("PUT", path, json.dumps(edited))
        seen[str(status)] += 1
        if status != 200:
            del edited["metadata"]["managedFields"]  # nobody's word for who took a field away
        drift = find_drift(json.loads(body) if status == 200 else edited, inputs)
        if told(drift) != expected:
            wrong[f"{where} = {value} ({status})"] = (told(drift), expected)
    print(f"\nrows by answer: {dict(seen)}")
    assert wrong == {}
    assert seen["200"] > seen["422"]


async def test_given_every_edit_then_only_those_that_change_the_stored_pods_drift(bench: Bench) -> None:
    inputs, live = await bench.stored(ROWS)
    for edits, is_drift in ((EDITS, True), (HARMLESS_EDITS, False)):
        for where, value in edits:
            wanted = dataclasses.replace(inputs, spec=engine_inputs(changed(SPEC, where, value)).spec)
            drift = find_drift(live, wanted)
            assert (drift is not None) == is_drift, f"{where} = {value}: {drift}"


async def test_given_images_then_we_know_the_pull_policy_the_api_server_gives_them(bench: Bench) -> None:
    containers = [{"name": f"side{index}", "image": image} for index, image in enumerate(IMAGE_NAMES)]
    _, live = await bench.stored(Case("pulled", {"spec": {"containers": containers}}))
    stored = {each["image"]: each["imagePullPolicy"] for each in live["spec"]["template"]["spec"]["containers"][1:]}
    assert stored == {image: kubernetes_pull_policy(image) for image in IMAGE_NAMES}
