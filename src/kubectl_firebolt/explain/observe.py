"""What does the cluster say about it? Only the object itself has to be readable; of the rest, as much as we may see."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from kubectl_firebolt import names
from kubectl_firebolt.errors import KubectlError, PluginError
from kubectl_firebolt.explain.seen import Kind, OperatorSeen, Seen, parse_time
from kubectl_firebolt.kubectl.invocation import (
    CLUSTER_ENGINE_CLASS,
    ENGINE,
    ENGINE_CLASS,
    INSTANCE,
    Invocation,
    Target,
    get,
    invocation,
    list_,
)
from kubectl_firebolt.manifest import Manifest, condition_of, is_deleting, is_true, name_of, namespace_of, spec_of
from kubectl_firebolt.session import Session

_CHILDREN: Final = "statefulsets,pods,services,configmaps"
_COMPONENTS: Final = f"deployments,{_CHILDREN}"


def looks(target: Target, kind: Kind, name: str) -> list[Invocation]:
    """What is asked for in any case; the instance and the class follow from what the engine says."""
    found = [get(target, kind.resource, name, "--ignore-not-found")]
    found += [_engines(target, kind)] if kind.is_shared else [_children(target, kind, name)]
    if kind is Kind.CLUSTER_ENGINE_CLASS:
        found.append(_nearer_classes(target))
    return [*found, _warnings(target), _leases(target)]


def observe(session: Session, kind: Kind, name: str, now: datetime) -> Seen:
    looking = _Looking(session)
    subject = session.kubectl.object(get(session.target, kind.resource, name, "--ignore-not-found"))
    children = [] if kind.is_shared else looking.items(_children(session.target, kind, name))
    if subject is None and not any(map(is_deleting, children)):
        raise PluginError(f'{kind} "{name}" is not there; {_listing(kind)} shows those that are')
    instance, engine_class = looking.around(kind, subject)
    return Seen(
        kind=kind,
        name=name,
        now=now,
        subject=subject,
        children=children,
        instance=instance,
        instance_pods=_pods(children) if kind is Kind.INSTANCE else looking.components(instance),
        engine_class=engine_class,
        engines=looking.users(kind, name) if kind.is_shared else (),
        warnings=looking.items(_warnings(session.target)),
        operators=looking.operators(),
        unseen=tuple(looking.unseen),
        flags=session.target.global_flags,
    )


@dataclass(frozen=True, slots=True)
class _Looking:
    """Writes down what it may not see."""

    session: Session
    unseen: list[str] = field(default_factory=list[str])

    def items(self, asked: Invocation) -> list[Manifest]:
        return self._items(asked) or []

    def _items(self, asked: Invocation) -> list[Manifest] | None:
        try:
            return self.session.kubectl.items(asked)
        except KubectlError as err:
            self.unseen.append(err.complaint or str(err))
            return None

    def around(self, kind: Kind, subject: Manifest | None) -> tuple[Manifest | None, Manifest | None]:
        if kind is not Kind.ENGINE or subject is None:
            return None, None
        spec = spec_of(subject)
        return self._one(INSTANCE, spec.get("instanceRef")), self._class(spec.get("engineClassRef"))

    def _class(self, name: object) -> Manifest | None:
        """The namespace's own, else that of the cluster."""
        return self._one(ENGINE_CLASS, name) or self._one(CLUSTER_ENGINE_CLASS, name)

    def _one(self, resource: str, name: object) -> Manifest | None:
        if not name:
            return None
        try:
            return self.session.kubectl.object(get(self.session.target, resource, str(name), "--ignore-not-found"))
        except KubectlError as err:
            self.unseen.append(err.complaint or str(err))
            return None

    def components(self, instance: Manifest | None) -> list[Manifest]:
        """Only of an instance that is not ready: nobody else's pods are of interest."""
        if instance is None or is_true(condition_of(instance, names.CONDITION_READY)):
            return []
        label = f"{names.LABEL_INSTANCE}={instance['metadata']['name']}"
        return self.items(list_(self.session.target, "pods", "-l", label))

    def users(self, kind: Kind, name: str) -> list[Manifest]:
        """A preset is used by all engines beside it, a class by those that name it and find none nearer."""
        found = self.items(_engines(self.session.target, kind))
        if kind is Kind.ENGINE_PRESET:
            return found
        near = self._nearer(name) if kind is Kind.CLUSTER_ENGINE_CLASS else set[str]()
        return [
            each for each in found if spec_of(each).get("engineClassRef") == name and namespace_of(each) not in near
        ]

    def _nearer(self, name: str) -> set[str]:
        """Namespaces that have a class of that name of their own."""
        found = self.items(_nearer_classes(self.session.target))
        return {namespace_of(each) for each in found if name_of(each) == name}

    def operators(self) -> Sequence[OperatorSeen] | None:
        found = self._items(_leases(self.session.target))
        return None if found is None else [seen for lease in found for seen in _operator(lease)]


def _operator(lease: Manifest) -> list[OperatorSeen]:
    spec = spec_of(lease)
    renewed_at = parse_time(spec.get("renewTime"))
    return [] if renewed_at is None else [OperatorSeen(holder=str(spec.get("holderIdentity")), renewed_at=renewed_at)]


def _children(target: Target, kind: Kind, name: str) -> Invocation:
    if kind is Kind.ENGINE:
        return list_(target, _CHILDREN, "-l", f"{names.LABEL_ENGINE}={name}")
    return list_(target, _COMPONENTS, "-l", f"{names.LABEL_INSTANCE}={name}")


def _engines(target: Target, kind: Kind) -> Invocation:
    if kind is Kind.CLUSTER_ENGINE_CLASS:
        return list_(_everywhere(target), ENGINE, "-A")
    return list_(target, ENGINE)


def _nearer_classes(target: Target) -> Invocation:
    return list_(_everywhere(target), ENGINE_CLASS, "-A")


def _everywhere(target: Target) -> Target:
    return Target(context=target.context, kubeconfig=target.kubeconfig)


def _listing(kind: Kind) -> str:
    return f"kubectl get {kind.resource}" if kind.is_shared else f"kubectl firebolt {kind} list"


def _warnings(target: Target) -> Invocation:
    return list_(target, "events", "--field-selector", "type=Warning")


def _leases(target: Target) -> Invocation:
    selector = f"metadata.name={names.LEASE_NAME}"
    flags = ("leases.coordination.k8s.io", "-A", "--field-selector", selector, "-o", "json")
    return invocation(_everywhere(target), "is an operator at work?", "get", *flags)


def _pods(children: Sequence[Manifest]) -> list[Manifest]:
    return [each for each in children if each.get("kind") == "Pod"]
