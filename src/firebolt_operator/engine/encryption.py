"""What does an engine get for TLS? Looked up, judged, and added to what it takes from its instance."""

from dataclasses import dataclass, replace

from firebolt_operator.api import names
from firebolt_operator.api.engine import FireboltEngine
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import SECRETS
from firebolt_operator.engine.decide.gates import Refusal, instance_blocks
from firebolt_operator.engine.decide.listener import (
    anchor_problem,
    foreign_secret,
    listener_problem,
    untrusted,
    wanted_listener,
)
from firebolt_operator.engine.inputs import InstanceInfo
from firebolt_operator.engine.listener import Listener
from firebolt_operator.engine.observe.listeners import ListenerReader
from firebolt_operator.errors import RejectedError
from firebolt_operator.refs import Ref
from firebolt_operator.tls.render.engine_tls import engine_tls_hash, tls_config, tls_mount


@dataclass(frozen=True, slots=True)
class EngineEncryption:
    reader: ListenerReader

    async def added(
        self, engine: FireboltEngine, instance: FireboltInstance, info: InstanceInfo, *, is_live: bool
    ) -> InstanceInfo | Refusal:
        """`instance` has passed its gate. Where engines speak plaintext nothing is asked, and nothing is added."""
        if wanted_listener(instance) is None:
            return info
        try:
            problem = listener_problem(instance) or await self._anchor_problem(instance, is_live=is_live)
            listener = None if problem else await self._listener(engine, instance, is_live=is_live)
        except RejectedError as err:
            problem, listener = str(err), None
        if listener is None:
            return instance_blocks(problem)
        problem = foreign_secret(listener, engine.metadata)
        return instance_blocks(problem) if problem else _with_listener(info, listener, engine, instance)

    async def _anchor_problem(self, instance: FireboltInstance, *, is_live: bool) -> str:
        """Where it matters: nothing of it is mounted, but without it nobody could trust a first engine."""
        status = instance.status.engine_tls
        if not is_live or status is None:
            return ""
        ref = Ref(SECRETS, instance.metadata.namespace, status.secret_name)
        return anchor_problem(ref, await self.reader.issued(ref))

    async def _listener(self, engine: FireboltEngine, instance: FireboltInstance, *, is_live: bool) -> Listener | None:
        wanted = wanted_listener(instance)
        if wanted is None or wanted.cert_manager is None:
            return None
        listener = Listener(
            asked=wanted.cert_manager,
            generation=engine.status.current_generation,
            has_cert_manager=await self.reader.has_cert_manager(),
            certificate=await self.reader.certificate(engine, is_live=is_live),
            secret=await self.reader.secret(engine, is_live=is_live),
        )
        status = instance.status
        if not is_live or status.engine_tls is None or not status.engine_tls.reencrypting:
            # A gateway that speaks plaintext trusts nobody, and need not: engines go first.
            return listener
        bundle = await self.reader.trust_bundle(instance)
        problem = untrusted(listener, engine.metadata.name, bundle, frozenset(status.rolled_engine_trust_cas))
        return replace(listener, untrusted=problem)


def _with_listener(
    info: InstanceInfo, listener: Listener, engine: FireboltEngine, instance: FireboltInstance
) -> InstanceInfo:
    anchor = instance.status.engine_tls.secret_name if instance.status.engine_tls else ""
    annotations = {
        names.ANNOTATION_ENGINE_TLS_HASH: engine_tls_hash(anchor, listener.asked),
        # Pods read it when they start, a moment after this.
        names.ANNOTATION_SERVING_CERTIFICATE: listener.secret.served if listener.secret else "",
    }
    return replace(
        info,
        is_secured=True,
        secret_mounts=(*info.secret_mounts, tls_mount(engine.metadata.name, listener.generation)),
        config_sections={**info.config_sections, **tls_config()},
        hash_annotations={**info.hash_annotations, **annotations},
        scheme="https",
        listener=listener,
    )
