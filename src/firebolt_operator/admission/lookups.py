"""What must be known of other objects to judge a write? Read live: caches lag, and a selector may narrow them."""

from collections.abc import Callable
from dataclasses import dataclass

from firebolt_operator.api.engine_class import EngineClassSpec
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.names import (
    KEY_ACCOUNTS,
    LABEL_POLICY_PARAMETER,
    POLICY_PARAMETER_ACCOUNTS,
    metadata_credentials_name,
)
from firebolt_operator.api.resources import CONFIG_MAPS, FIREBOLT_ENGINE_CLASSES, FIREBOLT_INSTANCES, SECRETS
from firebolt_operator.api.serialise import parse_engine_class, parse_instance
from firebolt_operator.errors import OperatorError, SpecRejectedError
from firebolt_operator.kube.ports import Reader, Scope
from firebolt_operator.kube.set_aside import SetAside
from firebolt_operator.manifests.reading import mapping, text
from firebolt_operator.policy.engine_checks import ClassLookup, class_not_found, class_unreadable
from firebolt_operator.policy.inherited import FoundClass
from firebolt_operator.refs import Ref

LIMITED = f"{LABEL_POLICY_PARAMETER}={POLICY_PARAMETER_ACCOUNTS}"
IsWatched = Callable[[str, dict[str, str]], bool]
"""Whether this operator looks after an object of that namespace with those labels."""


@dataclass(frozen=True, slots=True)
class Lookups:
    reader: Reader

    async def engine_class(self, namespace: str, name: str | None) -> ClassLookup:
        if not name:
            return None
        try:
            body = await self.reader.get_raw(Ref(FIREBOLT_ENGINE_CLASSES, namespace, name))
            if body is None:
                return class_not_found(name)
            if isinstance(body, SetAside):
                return class_unreadable(f'FireboltEngineClass "{name}" cannot be decoded')
            found = parse_engine_class(body)
        except OperatorError as err:
            return class_unreadable(str(err))
        spec = found.spec or EngineClassSpec(template={})
        return FoundClass(name=name, spec=spec, is_deleting=found.metadata.is_deleting)

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
