"""What does an instance's gateway serve, by what is recorded and by what is asked for? Pure."""

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.model import LocalRef
from firebolt_operator.api.names import TLSMode
from firebolt_operator.api.tls import TLSListener


def engine_listener(instance: FireboltInstance) -> TLSListener | None:
    return instance.spec.tls.engine if instance.spec.tls else None


def gateway_listener(instance: FireboltInstance) -> TLSListener | None:
    return instance.spec.tls.gateway if instance.spec.tls else None


def is_closed(instance: FireboltInstance) -> bool:
    """TLS is asked for and nothing is recorded that may be served: the gateway has no listener for clients."""
    listener = gateway_listener(instance)
    return listener is not None and listener.enabled and instance.status.gateway_tls is None


def is_reencrypting(instance: FireboltInstance) -> bool:
    return instance.status.engine_tls is not None and instance.status.engine_tls.reencrypting


def client_authority(instance: FireboltInstance) -> LocalRef | None:
    """Whose clients are let in: by what is recorded, never by what is asked for alone."""
    served, listener = instance.status.gateway_tls, gateway_listener(instance)
    is_mutual = served is not None and served.mode == TLSMode.MUTUAL
    return listener.client_ca_secret_ref if listener is not None and is_mutual else None


def client_revocations(instance: FireboltInstance) -> LocalRef | None:
    listener = gateway_listener(instance)
    return listener.crl_secret_ref if listener is not None and client_authority(instance) is not None else None


def engine_revocations(instance: FireboltInstance) -> LocalRef | None:
    listener = engine_listener(instance)
    is_used = is_reencrypting(instance) and not is_closed(instance)
    return listener.crl_secret_ref if listener is not None and is_used else None
