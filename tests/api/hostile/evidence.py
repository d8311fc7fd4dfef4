"""What did the operator say, and about whom? Its conditions, its events, its log and its counters."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from firebolt_operator.api.resources import EVENTS, FIREBOLT_ENGINE_CLASSES, FIREBOLT_ENGINES, FIREBOLT_INSTANCES
from firebolt_operator.kube.client import KubeClient
from firebolt_operator.kube.ports import Scope
from firebolt_operator.refs import Manifest
from tests.api.hostile.traps import Teller, Told

Subject = tuple[Teller, str, str, str]
"""Who says it, and of whom: kind, namespace, name."""
SECONDS: Final = 900.0  # a hang guard


@dataclass(slots=True)
class Evidence:
    said: dict[Subject, list[str]] = field(default_factory=lambda: defaultdict(list))

    def is_told(self, told: Told) -> bool:
        """All words of it in one sentence."""
        subject = (told.teller, told.ref.resource.kind, told.ref.namespace, told.ref.name)
        reason, _, words = told.words.partition(" ")
        return any(reason in text and words in text for text in self.said.get(subject, ()))

    def about(self, told: Told) -> str:
        place = (told.ref.resource.kind, told.ref.namespace, told.ref.name)
        found = {subject[0].value: texts for subject, texts in self.said.items() if subject[1:] == place}
        return f"{told.teller} {told.words!r} about {told.ref}; said: {str(found)[:600]}"


async def gathered(client: KubeClient, namespaces: Collection[str], log: Path) -> Evidence:
    evidence = Evidence()
    for namespace in namespaces:
        for resource in (FIREBOLT_ENGINES, FIREBOLT_INSTANCES, FIREBOLT_ENGINE_CLASSES):
            for each in await client.list(Scope(resource=resource, namespace=namespace)):
                subject = (Teller.CONDITION, resource.kind, namespace, each["metadata"]["name"])
                evidence.said[subject] = [_sentence(one) for one in each.get("status", {}).get("conditions", [])]
        for event in await client.list(Scope(resource=EVENTS, namespace=namespace)):
            regarding = event["regarding"]
            subject = (Teller.EVENT, regarding["kind"], namespace, regarding["name"])
            evidence.said[subject].append(f"{event['reason']} {event.get('note', '')}")
    for record in _records(log):
        evidence.said[_subject(record)].append(json.dumps(record))
    return evidence


def _sentence(condition: Manifest) -> str:
    return f"{condition['type']}={condition['status']} {condition['reason']} {condition['message']}"


def _subject(record: Manifest) -> Subject:
    """What is said in a pass is about its object, unless it names another one."""
    if "key" not in record:
        return Teller.LOG, record.get("controllerKind", ""), record.get("namespace", ""), record.get("name", "")
    namespace, _, name = record["key"].rpartition("/")
    return Teller.LOG, record.get("kind", ""), namespace, name


def _records(log: Path) -> list[Manifest]:
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


async def until_all_told(client: KubeClient, told: Sequence[Told], log: Path, namespaces: Collection[str]) -> None:
    evidence = Evidence()
    try:
        async with asyncio.timeout(SECONDS):
            while True:
                evidence = await gathered(client, namespaces, log)
                if all(evidence.is_told(each) for each in told):
                    return
                await asyncio.sleep(1.0)
    except TimeoutError as err:
        silent = [each for each in told if not evidence.is_told(each)]
        few = "\n".join(evidence.about(each) for each in silent[:: max(len(silent) // 20, 1)])
        raise AssertionError(f"{len(silent)} of {len(told)} bad objects were never named:\n{few}") from err
