"""An engine, its StatefulSets and its pods, as they are now and as they change."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from kubectl_firebolt.explain.seen import Kind, Seen
from kubectl_firebolt.kubectl.follow import Followed
from kubectl_firebolt.kubectl.follow import Seen as Told
from kubectl_firebolt.kubectl.invocation import ENGINE, Invocation, get, list_
from kubectl_firebolt.manifest import Manifest
from kubectl_firebolt.names import LABEL_ENGINE
from kubectl_firebolt.session import Session


@dataclass(slots=True)
class FollowedEngine:
    session: Session
    name: str
    engine: Manifest | None = None
    children: dict[str, Manifest] = field(default_factory=dict[str, Manifest])
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def looks(self) -> list[Invocation]:
        target, label = self.session.target, f"{LABEL_ENGINE}={self.name}"
        return [
            get(target, ENGINE, self.name, "--ignore-not-found"),
            list_(target, "statefulsets,pods", "-l", label),
        ]

    def look(self) -> None:
        """All of it as it is now."""
        engine, children = self.looks()
        self.engine = self.session.kubectl.object(engine)
        self.children = {str(each["metadata"]["uid"]): each for each in self.session.kubectl.items(children)}

    def parts(self, *others: Callable[[str, str, Manifest], None]) -> list[Followed]:
        """What has to be followed; `others` are told as well: which kind of object, what happened, the object."""

        def told(resource: str, own: Told) -> Told:
            def take(kind: str, manifest: Manifest) -> None:
                own(kind, manifest)
                for other in others:
                    other(resource, kind, manifest)
                self.changed.set()

            return take

        selections = (
            (ENGINE, ("--field-selector", f"metadata.name={self.name}"), self._take_engine),
            ("statefulset", ("-l", f"{LABEL_ENGINE}={self.name}"), self._take_child),
            ("pod", ("-l", f"{LABEL_ENGINE}={self.name}"), self._take_child),
        )
        kubectl, target = self.session.kubectl, self.session.target
        return [
            Followed(kubectl, target, resource, selection, told(resource, own))
            for resource, selection, own in selections
        ]

    def seen(self, now: datetime) -> Seen:
        return Seen(
            kind=Kind.ENGINE, name=self.name, now=now, subject=self.engine, children=list(self.children.values())
        )

    def _take_engine(self, kind: str, manifest: Manifest) -> None:
        self.engine = None if kind == "DELETED" else manifest

    def _take_child(self, kind: str, manifest: Manifest) -> None:
        uid = str(manifest["metadata"]["uid"])
        if kind == "DELETED":
            self.children.pop(uid, None)
        else:
            self.children[uid] = manifest
