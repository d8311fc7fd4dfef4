"""How far is a generation's certificate? What it waits for, whether its pods serve the one that is there, and who
trusts it.
"""

from firebolt_operator.api import names
from firebolt_operator.api.engine import EngineStatus
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import ObjectMeta
from firebolt_operator.api.tls import TLSListener
from firebolt_operator.engine.listener import Listener
from firebolt_operator.engine.views import Child
from firebolt_operator.manifests.issued import IssuedSecret, wrong_secret
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.tls_checks import ENGINE, check_tls
from firebolt_operator.refs import Ref
from firebolt_operator.tls.decide.engine_listeners import NEEDED
from firebolt_operator.tls.decide.renewal import ServingCertificate, is_renewed
from firebolt_operator.tls.decide.trust import NewGeneration, may_take_queries
from firebolt_operator.tls.facts import TrustBundle


def wanted_listener(instance: FireboltInstance) -> TLSListener | None:
    """None: engines speak plaintext."""
    listener = instance.spec.tls.engine if instance.spec.tls else None
    return listener if listener is not None and listener.enabled else None


def listener_problem(instance: FireboltInstance) -> str:
    """Why nothing can be made of what is asked for: an engine that should speak TLS speaks nothing else instead."""
    errors = [error for error in check_tls(instance) if error.path.text.startswith(ENGINE.text)]
    return f'FireboltInstance "{instance.metadata.name}": {aggregate(errors)}' if errors else ""


def anchor_problem(ref: Ref, secret: IssuedSecret | None) -> str:
    text = f"engine TLS secret {ref.namespace}/{ref.name}"
    if secret is None:
        return f"{text} not found"
    missing = [key for key in (names.KEY_CERTIFICATE, names.KEY_PRIVATE_KEY) if not secret.has(key)]
    return f'{text} is missing or empty for key "{missing[0]}"' if missing else ""


def foreign_secret(listener: Listener, engine: ObjectMeta) -> str:
    """A Secret of that name which cert-manager did not write for this generation is not mounted."""
    if listener.secret is None:
        return ""
    name = names.engine_tls_name(engine.name, listener.generation)
    wrong = wrong_secret(listener.secret, name)
    return f"engine generation {listener.generation} TLS secret {engine.namespace}/{name}: {wrong}" if wrong else ""


def is_certificate_taken(listener: Listener | None, uid: str) -> bool:
    """Somebody else's: whoever made it may know the key."""
    certificate = listener.certificate if listener else None
    return certificate is not None and not certificate.is_owned_by(uid)


def is_secret_planted(listener: Listener | None) -> bool:
    """It was there before it was asked for: cert-manager may adopt it, and whoever made it knows the key."""
    if listener is None or listener.secret is None:
        return False
    asked_at = listener.certificate.metadata.creation_timestamp if listener.certificate else None
    return asked_at is None or listener.secret.created_at < asked_at


def awaited_certificate(listener: Listener | None) -> str:
    """What a generation waits for before it gets pods; empty if it has all that they mount."""
    if listener is None or _is_issued(listener):
        return ""
    waits = f"waiting for cert-manager to issue the TLS certificate of generation {listener.generation}"
    if not listener.has_cert_manager:
        return f"{waits}; the cluster does not serve Certificates: is cert-manager installed?"
    if listener.secret is not None and not listener.secret.has(names.KEY_AUTHORITY):
        return f"{waits}; its Secret has no {names.KEY_AUTHORITY}, which only issuers of a CA fill"
    return waits


def _is_issued(listener: Listener) -> bool:
    certificate, secret = listener.certificate, listener.secret
    if certificate is None or certificate.metadata.is_deleting or secret is None:
        return False
    return certificate.ready_generation == certificate.metadata.generation and secret.has(*NEEDED)


def untrusted(listener: Listener, engine: str, bundle: TrustBundle, published: frozenset[str]) -> str:
    authority = listener.secret.authority if listener.secret else ""
    new = NewGeneration(name=names.engine_tls_name(engine, listener.generation), authority=authority)
    if authority and may_take_queries(new, bundle, published):
        return ""
    return f"waiting for the gateway to trust the CA of generation {listener.generation}"


def served_certificate(
    status: EngineStatus, statefulset: Child | None, listener: Listener | None
) -> ServingCertificate:
    """What the generation's pods read when they started. It was written down when they were made, because the Secret
    may have been renewed since; where it was not, what is found first has to do.
    """
    annotations = {} if statefulset is None else statefulset.metadata.annotations
    if not annotations.get(names.ANNOTATION_ENGINE_TLS_HASH):
        return ServingCertificate()
    generation = status.current_generation
    recorded = status.observed_engine_serving_cert_fp if status.observed_engine_serving_cert_gen == generation else ""
    live = listener.secret.served if listener and listener.secret else ""
    served = annotations.get(names.ANNOTATION_SERVING_CERTIFICATE, "") or recorded or live
    return ServingCertificate(served, generation) if served else ServingCertificate()


def why_renewed(status: EngineStatus, statefulset: Child | None, listener: Listener | None) -> str | None:
    if listener is None or listener.secret is None:
        return None
    live = ServingCertificate(listener.secret.served, listener.generation)
    if not is_renewed(served_certificate(status, statefulset, listener), live):
        return None
    return f"the TLS certificate of generation {listener.generation} was issued anew"
