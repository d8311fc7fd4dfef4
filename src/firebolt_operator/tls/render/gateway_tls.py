"""What does the gateway get for TLS? Two transport sockets, the Secrets behind them, and what rolls its pods."""

from collections.abc import Mapping
from dataclasses import dataclass

from firebolt_operator.api import names
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.tls import GatewayTLSStatus, TLSListener
from firebolt_operator.gateway.envoy import transport
from firebolt_operator.gateway.envoy.transport import downstream_tls, upstream_tls
from firebolt_operator.gateway.inputs import GatewayTLS
from firebolt_operator.manifests.secret_mounts import SecretMount


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretRevisions:
    """What tells one content of a Secret from another, by its name; none of one that is not there or not usable."""

    known: Mapping[str, str]

    def of(self, mounts: tuple[SecretMount, ...]) -> tuple[str, ...]:
        """A list that cannot be read starts no rollout: new pods could not mount it."""
        found = ((mount.secret, self.known.get(mount.secret, "")) for mount in mounts)
        return tuple(f"{name}={revision}" for name, revision in found if revision)


def is_closed(instance: FireboltInstance) -> bool:
    """TLS is asked for and nothing is recorded that may be served: the gateway has no listener for clients."""
    listener = _listener(instance, "gateway")
    return listener is not None and listener.enabled and instance.status.gateway_tls is None


def gateway_tls(instance: FireboltInstance, revisions: SecretRevisions) -> GatewayTLS:
    served, listener = instance.status.gateway_tls, _listener(instance, "gateway")
    engines, is_reencrypting = _listener(instance, "engine"), _is_reencrypting(instance)
    down = _client_mounts(served, listener) if served is not None and listener is not None else ()
    up = _engine_mounts(instance, engines) if is_reencrypting else ()
    volumes = {mount.volume for mount in (*down, *up)}
    mutual, crl = names.VOLUME_GATEWAY_CLIENT_CA in volumes, names.VOLUME_GATEWAY_CLIENT_CRL in volumes
    has_engine_crl = names.VOLUME_GATEWAY_ENGINE_CRL in volumes
    namespace = instance.metadata.namespace
    return GatewayTLS(
        downstream=downstream_tls(asks_for_certificate=mutual, has_crl=crl) if down else None,
        upstream=upstream_tls(namespace, has_crl=has_engine_crl) if up else None,
        mounts=(*down, *up),
        revisions=revisions.of((*down, *up)),
    )


def _client_mounts(served: GatewayTLSStatus, listener: TLSListener) -> tuple[SecretMount, ...]:
    """By what is recorded, never by what is asked for: the record goes before the effect."""
    found = [_mount(names.VOLUME_GATEWAY_TLS, served.secret_name, transport.CERTIFICATE_FOLDER)]
    authority, revocations = listener.client_ca_secret_ref, listener.crl_secret_ref
    if served.mode != names.TLSMode.MUTUAL or authority is None:
        return tuple(found)
    found.append(
        _mount(names.VOLUME_GATEWAY_CLIENT_CA, authority.name, transport.CLIENT_CA_FOLDER, names.KEY_AUTHORITY)
    )
    if revocations is not None:
        found.append(
            _mount(
                names.VOLUME_GATEWAY_CLIENT_CRL, revocations.name, transport.CLIENT_CRL_FOLDER, names.KEY_REVOCATIONS
            )
        )
    return tuple(found)


def _engine_mounts(instance: FireboltInstance, engines: TLSListener | None) -> tuple[SecretMount, ...]:
    bundle = names.engine_ca_bundle_name(instance.metadata.name)
    trusted = _mount(names.VOLUME_GATEWAY_ENGINE_CA, bundle, transport.ENGINE_CA_FOLDER, names.KEY_AUTHORITY)
    revocations = engines.crl_secret_ref if engines is not None else None
    if revocations is None:
        return (trusted,)
    folder = transport.ENGINE_CRL_FOLDER
    return (trusted, _mount(names.VOLUME_GATEWAY_ENGINE_CRL, revocations.name, folder, names.KEY_REVOCATIONS))


def _mount(volume: str, secret: str, path: str, *keys: str) -> SecretMount:
    return SecretMount(volume=volume, secret=secret, path=path, keys=keys)


def _listener(instance: FireboltInstance, which: str) -> TLSListener | None:
    tls = instance.spec.tls
    if tls is None:
        return None
    return tls.gateway if which == "gateway" else tls.engine


def _is_reencrypting(instance: FireboltInstance) -> bool:
    return instance.status.engine_tls is not None and instance.status.engine_tls.reencrypting
