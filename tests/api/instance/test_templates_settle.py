"""Is an applied Deployment recognised as ours, whatever its template asks for? The API server is the only judge.

Otherwise an instance would be applied again in every pass, or not when a template was taken back.
"""

import asyncio
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from firebolt_operator.api.resources import DEPLOYMENTS
from firebolt_operator.errors import RejectedError
from firebolt_operator.instance.decide.steps import is_last_answer
from firebolt_operator.instance.facts import Answer
from firebolt_operator.instance.render.metadata_service import metadata_deployment
from firebolt_operator.manifests.applied import is_applied
from firebolt_operator.manifests.live_objects import LiveObject, decode_live, live_object
from firebolt_operator.policy.instance_checks import check_metadata_template
from firebolt_operator.refs import Manifest, Ref
from tests.api.engine.templates import FRAGMENTS
from tests.api.instance.person import Person
from tests.support.instances import an_instance

AT_ONCE = 8
VOLUMES = [{"name": "scratch", "emptyDir": {}}, {"name": "block", "persistentVolumeClaim": {"claimName": "block"}}]
CLAIMS = [{"name": "claim", "resourceClaimTemplateName": "some"}]


def templates() -> Iterator[tuple[str, Manifest]]:
    for index, fragment in enumerate(FRAGMENTS["pod"]):
        yield f"pod-{index}", {"spec": fragment}
    for part in ("container", "sidecar"):
        for index, fragment in enumerate(FRAGMENTS[part]):
            container = {"name": "side", "image": "side:1", **fragment}
            spec = {"containers": [container], "volumes": VOLUMES, "resourceClaims": CLAIMS}
            yield f"{part}-{index}", {"spec": spec}
    for index, fragment in enumerate(FRAGMENTS["volumes"]):
        yield f"volume-{index}", {"spec": {"volumes": [{"name": "v", **fragment}]}}


@dataclass(slots=True)
class Findings:
    accepted: int = 0
    refused: list[str] = field(default_factory=list[str])
    unsettled: list[str] = field(default_factory=list[str])  # would be applied for ever
    settled_by_answer: list[str] = field(default_factory=list[str])  # cost one apply after a restart
    missed: list[str] = field(default_factory=list[str])  # would never be taken back


@dataclass(frozen=True, slots=True)
class Bench:
    person: Person
    findings: Findings

    async def work(self, waiting: Iterable[tuple[str, Manifest]]) -> None:
        for name, template in waiting:
            try:
                await self._try(name, template)
            except RejectedError:
                self.findings.refused.append(name)

    async def _try(self, name: str, template: Manifest) -> None:
        rendered, plain = self._rendered(name, template), self._rendered(name, None)
        if rendered is None or plain is None:
            return
        live, answer = await self._applied(rendered)
        if not is_applied(rendered, live) and not is_last_answer(rendered, live, answer):
            # The Deployment's controller has numbered it in between, which it does once.
            live, answer = await self._applied(rendered)
        self.findings.accepted += 1
        if not is_applied(rendered, live):
            is_known = is_last_answer(rendered, live, answer)
            (self.findings.settled_by_answer if is_known else self.findings.unsettled).append(name)
        if rendered != plain and (is_applied(plain, live) or is_last_answer(plain, live, answer)):
            self.findings.missed.append(name)
        if not is_applied(plain, (await self._applied(plain))[0]):
            self.findings.unsettled.append(f"{name}, taken back")

    def _rendered(self, name: str, template: Manifest | None) -> Manifest | None:
        """Without pods, and without the owner that does not exist; None for a template that we refuse."""
        meta = {"name": name, "namespace": self.person.namespace}
        instance = an_instance(meta=meta, metadata={"template": template})
        if check_metadata_template(instance.spec):
            return None
        manifest = metadata_deployment(instance, "metadata:1")
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "ownerReferences"}
        return {**manifest, "metadata": metadata, "spec": {**manifest["spec"], "replicas": 0}}

    async def _applied(self, manifest: Manifest) -> tuple[LiveObject, Answer]:
        answer = Answer(manifest, live_object(await self.person.client.apply(manifest)))
        ref = Ref(DEPLOYMENTS, self.person.namespace, manifest["metadata"]["name"])
        body = await self.person.client.get_raw(ref)
        assert body is not None
        return decode_live(body), answer


async def test_every_template_settles_and_can_be_taken_back(operator_door: Person) -> None:
    findings = Findings()
    waiting = iter(templates())
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(Bench(operator_door, findings).work(waiting))
    assert (findings.unsettled, findings.missed) == ([], [])
    # Zeros and empty values that stand for defaults, fractions of a thousandth, features that are off.
    assert len(findings.settled_by_answer) < findings.accepted / 10
    assert findings.accepted > 100
