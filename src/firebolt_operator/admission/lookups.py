"""What must be known of other objects to judge a write? Read live: caches lag, and a selector may narrow them."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api.engine_class import EngineClassSpec, FireboltEngineClass
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import (
    KEY_ACCOUNTS,
    LABEL_POLICY_PARAMETER,
    POLICY_PARAMETER_ACCOUNTS,
    PRESET_NAME,
    metadata_credentials_name,
)
from firebolt_operator.api.resources import (
    CLUSTER_FIREBOLT_ENGINE_CLASSES,
    CONFIG_MAPS,
    FIREBOLT_ENGINE_CLASSES,
    FIREBOLT_ENGINE_PRESETS,
    FIREBOLT_INSTANCES,
    SECRETS,
)
from firebolt_operator.api.serialise import (
    parse_cluster_engine_class,
    parse_engine_class,
    parse_engine_preset,
    parse_instance,
)
from firebolt_operator.errors import ForbiddenError, OperatorError, SpecRejectedError, UnreadableError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.manifests.reading import mapping, text
from firebolt_operator.policy.engine_checks import ClassLookup, class_not_found, class_unreadable
from firebolt_operator.policy.inherited import FoundClass, InheritedTemplate, preset_template
from firebolt_operator.refs import Ref

LIMITED = f"{LABEL_POLICY_PARAMETER}={POLICY_PARAMETER_ACCOUNTS}"
IsWatched = Callable[[str, dict[str, str]], bool]
"""Whether this operator looks after an object of that namespace with those labels."""


def _own_class(name: str, found: FireboltEngineClass) -> FoundClass:
    spec = found.spec or EngineClassSpec(template={})
    return FoundClass(name=name, spec=spec, is_deleting=found.metadata.is_deleting)


@dataclass(frozen=True, slots=True)
class Lookups:
    reader: Reader

    async def engine_class(self, namespace: str, name: str | None) -> ClassLookup:
        if not name:
            return None
        try:
            own = await self._read(Ref(FIREBOLT_ENGINE_CLASSES, namespace, name))
            if own is not None:
                return _own_class(name, parse_engine_class(own))
            shared = await self._cluster_class(name)
        except OperatorError as err:
            return class_unreadable(str(err))
        return class_not_found(name) if shared is None else shared

    async def _cluster_class(self, name: str) -> FoundClass | None:
        try:
            body = await self._read(Ref(CLUSTER_FIREBOLT_ENGINE_CLASSES, "", name))
        except ForbiddenError:
            return None  # without rights beyond some namespaces there are no such classes
        if body is None:
            return None
        found = parse_cluster_engine_class(body)
        return FoundClass(
            name=name,
            spec=EngineClassSpec(template=found.spec.template if found.spec else {}),
            is_deleting=found.metadata.is_deleting,
            kind=CLUSTER_FIREBOLT_ENGINE_CLASSES.kind,
        )

    async def _read(self, ref: Ref) -> bytes | None:
        body = await self.reader.get_raw(ref)
        if isinstance(body, SetAside):
            raise UnreadableError(f'{ref.resource.kind} "{ref.name}" cannot be decoded')
        return body

    async def preset(self, namespace: str) -> InheritedTemplate | None:
        """None if it is not there or cannot be had: then the controller judges."""
        try:
            body = await self._read(Ref(FIREBOLT_ENGINE_PRESETS, namespace, PRESET_NAME))
            found = parse_engine_preset(body) if body is not None else None
        except OperatorError:
            return None
        spec = found.spec if found else None
        return preset_template(PRESET_NAME, spec.template, spec.custom_engine_config) if spec else None

    async def instance(self, namespace: str, name: str) -> FireboltInstance | None:
        """None if it is not there or cannot be had: an engine may well be applied before its instance."""
        try:
            body = await self.reader.get_raw(Ref(FIREBOLT_INSTANCES, namespace, name))
            return None if body is None or isinstance(body, SetAside) else parse_instance(body)
        except (OperatorError, SpecRejectedError):
            return None

    async def may_have_credentials(self, namespace: str, instance: str) -> bool:
        """Whether somebody left the credentials of a database for an instance of that name, as far as can be told."""
        if not instance:
            return False
        try:
            return await self.reader.get_raw(Ref(SECRETS, namespace, metadata_credentials_name(instance))) is not None
        except OperatorError:
            return True

    async def gateway_accounts(self, namespace: str) -> frozenset[str]:
        """Which accounts of a namespace are gateways, besides those named after an instance."""
        listed = await self.reader.list(Scope(resource=CONFIG_MAPS, namespace=namespace, labels=LIMITED))
        lines = (text(mapping(each.get("data")).get(KEY_ACCOUNTS)).splitlines() for each in listed)
        return frozenset(name for names in lines for name in names if name)
