"""Ten mistakes that an operator could have, each as a change of its source, and the lines that bring them to light."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

SOURCE: Final = Path(__file__).parents[3] / "src" / "firebolt_operator"


@dataclass(frozen=True, slots=True)
class Mistake:
    name: str
    file: str  # below the operator's source
    changes: tuple[tuple[str, str], ...]  # what is there once, and what stands there instead
    line: str  # of a campaign


MISTAKES: Final = (
    Mistake(
        "queries are switched before pods are ready",
        "engine/decide/phases.py",
        (
            (
                "    if not _is_ready(situation, current):\n        progress",
                "    if current.statefulset is None:\n        progress",
            ),
            (" or (repair and lacks_pods(current, replicas, situation.uid))", ""),
        ),
        "image: 429=1 update fireboltengines/status 1",
    ),
    Mistake(
        "an edit rolls that changes nothing of the pods",
        "engine/render/statefulset.py",
        (
            (
                "    config = merged_custom_config(inputs)\n    return",
                (
                    "    config = merged_custom_config(inputs)\n"
                    '    config["drain"] = inputs.spec.drain_timeout\n    return'
                ),
            ),
        ),
        "edits: FireboltEngine spec.drainTimeout legal",
    ),
    Mistake(
        "a pass that failed is not tried again",
        "runtime/controller.py",
        (
            ("        self.queue.retry(job.key, job.priority)", "        self.queue.forget(job.key)"),
            ("                self.queue.add_after(key, wait, with_others=outcome.is_settled)\n", ""),
        ),
        "stop: 500 update fireboltengines/status 1",
    ),
    Mistake(
        "only what this process made is cleaned up",
        "engine/act/writes.py",
        (
            ("Seen = Callable[[Ref], Child | None]\n", "Seen = Callable[[Ref], Child | None]\nMADE = set[str]()\n"),
            (
                "        if live is None:\n            await self.writer.apply(manifest)\n",
                (
                    "        if live is None:\n"
                    '            MADE.add((await self.writer.apply(manifest))["metadata"]["uid"])\n'
                ),
            ),
            ("    if metadata.is_deleting:\n", "    if metadata.is_deleting or metadata.uid not in MADE:\n"),
        ),
        "scale: kill-after update fireboltengines/status 1",
    ),
    Mistake(
        "a wake that was refused counts as done",
        "engine/act/replicas.py",
        (
            (
                "        engine = await self._resize(decision)\n",
                (
                    "        try:\n            engine = await self._resize(decision)\n"
                    "        except Exception:\n            engine = self.engine\n"
                ),
            ),
        ),
        "wake: 500 patch fireboltengines 1",
    ),
    Mistake(
        "something is made that nobody owns",
        "engine/act/writes.py",
        (
            (
                "        live = self.seen(ref_of(manifest))\n",
                (
                    "        live = self.seen(ref_of(manifest))\n"
                    '        if live is None and manifest["kind"] == "StatefulSet":\n'
                    '            place = {"name": "note", "namespace": manifest["metadata"]["namespace"]}\n'
                    '            stray = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": place}\n'
                    "            await self.writer.apply(stray)\n"
                ),
            ),
        ),
        "create: cut-after patch statefulsets 1",
    ),
    Mistake(
        "a version that was forgotten is watched again instead of listed",
        "runtime/informer.py",
        (
            (
                'extra={"scope": str(part.scope), "reason": str(err)})\n            part.must_list = True\n',
                "extra={})\n",
            ),
        ),
        "scale: expire watch pods 2",
    ),
    Mistake(
        "everybody leads",
        "wiring/operate.py",
        (("    if not settings.leader_elect:\n", "    if settings.leader_elect or not settings.leader_elect:\n"),),
        "image: stop patch statefulsets 1",
    ),
    Mistake(
        "labels of pods are not compared",
        "engine/render/drift/statefulset.py",
        (('{"labels": metadata.get("labels"), "annotations"', '{"annotations"'),),
        "edits: FireboltEngine spec.template.metadata legal",
    ),
    Mistake(
        "configuration that was taken back stays",
        "engine/render/engine_config.py",
        (
            ('SCHEMA_VERSION: Final = "1.0"\n', 'SCHEMA_VERSION: Final = "1.0"\nKEPT: Manifest = {}\n'),
            (
                "    base = deep_merge(_operator_config(inputs, generation), inputs.instance.config_sections)\n",
                (
                    "    base = deep_merge(_operator_config(inputs, generation), inputs.instance.config_sections)\n"
                    "    KEPT.update(merged_custom_config(inputs))\n"
                    "    base = deep_merge(base, KEPT)\n"
                ),
            ),
        ),
        "edits: FireboltEngine spec.customEngineConfig legal",
    ),
)


def planted(mistake: Mistake, source: Path = SOURCE) -> str:
    """The text of the file with the mistake in it."""
    text = (source / mistake.file).read_text(encoding="utf-8")
    for old, new in mistake.changes:
        if text.count(old) != 1:
            raise AssertionError(f"{mistake.name}: {mistake.file} has {text.count(old)} times: {old}")
        text = text.replace(old, new)
    return text
