"""What holds an object that is being deleted? Stuck finalizers, whose they are, and the way out."""

from datetime import datetime, timedelta
from typing import Final

from kubectl_firebolt import names
from kubectl_firebolt.explain.decide.watching import is_operator_at_work
from kubectl_firebolt.explain.finding import Finding, blocks, note, waits
from kubectl_firebolt.explain.seen import Kind, Seen, ago, parse_time
from kubectl_firebolt.manifest import Manifest, is_deleting, name_of, namespace_of

OURS: Final = {
    Kind.ENGINE: names.FINALIZER_ENGINE,
    Kind.INSTANCE: names.FINALIZER_INSTANCE,
    Kind.ENGINE_CLASS: names.FINALIZER_ENGINE_CLASS,
    Kind.ENGINE_PRESET: names.FINALIZER_ENGINE_PRESET,
    Kind.CLUSTER_ENGINE_CLASS: names.FINALIZER_CLUSTER_ENGINE_CLASS,
}
_USUAL: Final = {Kind.ENGINE: timedelta(seconds=30)}
_LONGER: Final = timedelta(seconds=90)  # a minute for gateways, or for requests that still found it alive
_STRIP: Final = """patch {resource} {name} --type=merge -p '{{"metadata":{{"finalizers":{finalizers}}}}}\'"""


_FREED_CLASS: Final = "let them use another class, or none (spec.engineClassRef), or delete them; then it goes"
_FREED_PRESET: Final = "delete them, then it goes; what they share is changed by editing it, not by deleting it"


def deletion_findings(seen: Seen) -> list[Finding]:
    subject = seen.there
    ours = OURS[seen.kind]
    finalizers: list[str] = subject["metadata"].get("finalizers") or []
    findings = [_foreign(seen, each) for each in finalizers if each != ours]
    if ours in finalizers:
        findings += _ours(seen)
    return findings + leftover_findings(seen)


def leftover_findings(seen: Seen) -> list[Finding]:
    """Children that are on their way out and cannot go. They hold nothing up but themselves."""
    return [
        note(
            f"{child.get('kind')}/{name_of(child)} is being deleted and held by {', '.join(held)}",
            "see that whoever set that finalizer takes it off; nothing of ours waits for it",
        )
        for child in seen.children
        if is_deleting(child) and (held := child["metadata"].get("finalizers"))
    ]


def _foreign(seen: Seen, finalizer: str) -> Finding:
    fix = (
        f"see why the controller that {finalizer} belongs to does not take it off;"
        " if that is gone for good, do it yourself"
    )
    what = f"finalizer {finalizer} is not the operator's, and holds it{_since(seen)}"
    return blocks(what, fix, _stripped(seen, finalizer))


def _ours(seen: Seen) -> list[Finding]:
    ours, users = OURS[seen.kind], [_user(seen, each) for each in seen.engines if not is_deleting(each)]
    if users:
        what = f"{seen.kind} {seen.name} is used by {len(users)} engine(s): {', '.join(sorted(users)[:10])}"
        return [blocks(what, _FREED_PRESET if seen.kind is Kind.ENGINE_PRESET else _FREED_CLASS)]
    if is_operator_at_work(seen) is False:
        fix = "start the operator: it cleans up and takes its finalizer off. If it is gone for good, do it yourself"
        what = f"finalizer {ours} holds it, and no operator is at work to take it off"
        return [blocks(what, f"{fix}{_and_look(seen)}", _stripped(seen, ours))]
    if _waited(seen) < _USUAL.get(seen.kind, _LONGER):
        return [waits("the operator is cleaning up after it", "give it a moment")]
    what = f"finalizer {ours} holds it{_since(seen)}, which is longer than a deletion takes"
    fix = (
        "read the operator's log for this name: the API server refuses something (rights, a webhook, a quota),"
        f" or no operator watches this namespace. If none will ever come, take it off yourself{_and_look(seen)}"
    )
    return [blocks(what, fix, _stripped(seen, ours))]


def _user(seen: Seen, engine: Manifest) -> str:
    """Engines of other namespaces are told with theirs."""
    is_anywhere = seen.kind is Kind.CLUSTER_ENGINE_CLASS
    return f"{namespace_of(engine)}/{name_of(engine)}" if is_anywhere else name_of(engine)


def _stripped(seen: Seen, finalizer: str) -> str:
    held: list[str] = seen.there["metadata"].get("finalizers") or []
    kept = ",".join(f'"{each}"' for each in held if each != finalizer)
    command = _STRIP.format(resource=seen.kind.resource, name=seen.name, finalizers=f"[{kept}]")
    return seen.kubectl(command)


def _and_look(seen: Seen) -> str:
    """Owner references take most of it along; what nobody owns stays."""
    if seen.kind.is_shared:
        return ""
    label = names.LABEL_ENGINE if seen.kind is Kind.ENGINE else names.LABEL_INSTANCE
    return f", and look for what is left: all that is labelled {label}={seen.name}"


def _waited(seen: Seen) -> timedelta:
    began_at = _deleted_at(seen.there)
    return timedelta(0) if began_at is None else seen.now - began_at


def _since(seen: Seen) -> str:
    began_at = _deleted_at(seen.there)
    return "" if began_at is None else f" since {ago(began_at, seen.now)}"


def _deleted_at(manifest: Manifest) -> datetime | None:
    return parse_time(manifest["metadata"].get("deletionTimestamp"))
