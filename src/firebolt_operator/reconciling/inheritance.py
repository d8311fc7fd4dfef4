"""What does an engine inherit from? Read from caches that engines and instances share."""

from contextlib import suppress
from dataclasses import dataclass

from firebolt_operator.api.cluster_engine_class import ClusterFireboltEngineClass
from firebolt_operator.api.engine import EngineSpec
from firebolt_operator.api.engine_class import FireboltEngineClass
from firebolt_operator.api.engine_preset import FireboltEnginePreset
from firebolt_operator.api.names import PRESET_NAME
from firebolt_operator.errors import ForbiddenError, TransientError
from firebolt_operator.kube.ports import Reader
from firebolt_operator.policy.inherited import AnyClass, missing_class
from firebolt_operator.refs import Manifest, Ref
from firebolt_operator.runtime.cache import Cache
from firebolt_operator.runtime.live import fetch_live


@dataclass(frozen=True, slots=True, kw_only=True)
class Inheritance:
    engine_classes: Cache[FireboltEngineClass]
    cluster_classes: Cache[ClusterFireboltEngineClass]
    presets: Cache[FireboltEnginePreset]
    reader: Reader

    async def engine_class(self, namespace: str, name: str) -> AnyClass | None:
        """A class may be made a moment before its engine, and be on its way still; one outside the watch selector does
        not exist for this operator, whatever the server knows.
        """
        if self._known_class(namespace, name) is None:
            await fetch_live(self.engine_classes, self.reader, Ref(self.engine_classes.resource, namespace, name))
        if self._known_class(namespace, name) is None:
            # Whoever looks after some namespaces only may have no rights beyond them: then there are no such classes.
            with suppress(ForbiddenError):
                await fetch_live(self.cluster_classes, self.reader, Ref(self.cluster_classes.resource, "", name))
        return self._known_class(namespace, name)

    def preset(self, namespace: str) -> FireboltEnginePreset | None:
        return self.presets.known((namespace, PRESET_NAME))

    def templates(self, namespace: str, spec: EngineSpec) -> list[Manifest | None]:
        """All that have a say in an engine's pods, the highest first, as far as the caches know."""
        preset = self.preset(namespace)
        over = [spec.template, preset.spec.template if preset and preset.spec else None]
        if not spec.engine_class_ref:
            return over
        found = self._known_class(namespace, spec.engine_class_ref)
        if found is None:
            raise TransientError(missing_class(namespace, spec.engine_class_ref))
        return [*over, found.spec.template if found.spec else None]

    def _known_class(self, namespace: str, name: str) -> AnyClass | None:
        """The namespace's own as a whole, or the cluster's as a whole."""
        return self.engine_classes.known((namespace, name)) or self.cluster_classes.known(("", name))
