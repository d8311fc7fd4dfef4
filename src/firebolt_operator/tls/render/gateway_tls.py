"""What does the gateway get for TLS? Two transport sockets, the Secrets behind them, and what rolls its pods."""

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.gateway.envoy import transport
from firebolt_operator.gateway.envoy.transport import downstream_tls, upstream_tls
from firebolt_operator.gateway.inputs import GatewayTLS
from firebolt_operator.manifests.secret_mounts import SecretMount
from firebolt_operator.tls import served
from firebolt_operator.tls.facts import SecretRevisions


def gateway_tls(instance: FireboltInstance, revisions: SecretRevisions) -> GatewayTLS:
    if served.is_closed(instance):
        # It mounts nothing: whatever is wrong with a Secret, a listener that has to be closed is closed.
        return GatewayTLS(is_closed=True)
    down, up = _client_mounts(instance), _engine_mounts(instance)
    mutual, crl = served.client_authority(instance), served.client_revocations(instance)
    has_engine_crl = served.engine_revocations(instance) is not None
    return GatewayTLS(
        downstream=downstream_tls(asks_for_certificate=mutual is not None, has_crl=crl is not None) if down else None,
        upstream=upstream_tls(instance.metadata.namespace, has_crl=has_engine_crl) if up else None,
        mounts=(*down, *up),
        revisions=revisions.of((*down, *up)),
    )


def _client_mounts(instance: FireboltInstance) -> tuple[SecretMount, ...]:
    """By what is recorded, never by what is asked for: the record goes before the effect."""
    recorded, listener = instance.status.gateway_tls, served.gateway_listener(instance)
    if recorded is None or listener is None:
        return ()
    found = [_mount(names.VOLUME_GATEWAY_TLS, recorded.secret_name, transport.CERTIFICATE_FOLDER)]
    authority, revocations = served.client_authority(instance), served.client_revocations(instance)
    if authority is not None:
        folder = transport.CLIENT_CA_FOLDER
        found.append(_mount(names.VOLUME_GATEWAY_CLIENT_CA, authority.name, folder, names.KEY_AUTHORITY))
    if revocations is not None:
        folder = transport.CLIENT_CRL_FOLDER
        found.append(_mount(names.VOLUME_GATEWAY_CLIENT_CRL, revocations.name, folder, names.KEY_REVOCATIONS))
    return tuple(found)


def _engine_mounts(instance: FireboltInstance) -> tuple[SecretMount, ...]:
    if not served.is_reencrypting(instance):
        return ()
    bundle = names.engine_ca_bundle_name(instance.metadata.name)
    trusted = _mount(names.VOLUME_GATEWAY_ENGINE_CA, bundle, transport.ENGINE_CA_FOLDER, names.KEY_AUTHORITY)
    revocations = served.engine_revocations(instance)
    if revocations is None:
        return (trusted,)
    folder = transport.ENGINE_CRL_FOLDER
    return (trusted, _mount(names.VOLUME_GATEWAY_ENGINE_CRL, revocations.name, folder, names.KEY_REVOCATIONS))


def _mount(volume: str, secret: str, path: str, *keys: str) -> SecretMount:
    return SecretMount(volume=volume, secret=secret, path=path, keys=keys)
