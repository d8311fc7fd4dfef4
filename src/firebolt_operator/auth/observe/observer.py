"""What is there of an instance's authentication? Asks caches, and the server where they are not to be relied on."""

from dataclasses import dataclass
from typing import Final

from firebolt_operator.api.auth import LocalAuthSpec
from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.api.resources import CERTIFICATES, SECRETS
from firebolt_operator.auth.decide.signing_keys import rendered_keys, secrets_of_interest
from firebolt_operator.auth.facts import AuthSituation, EngineSecrets, Fleet
from firebolt_operator.auth.observe.fleet import held_keys
from firebolt_operator.errors import RejectedError, TransientError, UnreadableError
from firebolt_operator.manifests.issued import Issued, IssuedSecret
from firebolt_operator.policy.auth_checks import check_auth
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.secret_references import ours
from firebolt_operator.reconciling.fleet import FleetReader
from firebolt_operator.reconciling.issued_views import CertificateView
from firebolt_operator.reconciling.secret_watches import SecretWatches
from firebolt_operator.refs import Ref
from firebolt_operator.runtime.clock import Clock
from firebolt_operator.runtime.optional_kind import OptionalKind

NOBODY: Final = Fleet()


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthSecrets:
    """The Secrets that authentication rests on, whoever asks."""

    watches: SecretWatches[IssuedSecret]

    async def admin(
        self, namespace: str, local: LocalAuthSpec, *, is_live: bool = False
    ) -> tuple[IssuedSecret | None, str]:
        """The Secret with the administrator's password, and why it cannot be used."""
        selected = local.admin.password
        name = f"admin password secret {namespace}/{selected.name}"
        if not selected.name:
            return None, f"{name} not found"
        try:
            found = await self.watches.read(Ref(SECRETS, namespace, selected.name), is_live=is_live)
        except (RejectedError, UnreadableError) as err:
            return None, f"getting {name}: {err}"
        if found is None:
            return None, f"{name} not found"
        return found, "" if found.has(selected.key) else f'{name} is missing or empty for key "{selected.key}"'

    async def of_engines(self, instance: FireboltInstance, local: LocalAuthSpec, *, is_live: bool) -> EngineSecrets:
        namespace = instance.metadata.namespace
        admin, problem = await self.admin(namespace, local, is_live=is_live)
        keys = [key.secret_name for key in rendered_keys(instance.status.auth)]
        found = {name: await self.watches.read(Ref(SECRETS, namespace, name), is_live=is_live) for name in keys}
        return EngineSecrets(
            admin=admin,
            admin_problem=problem,
            issued={name: Issued(secret=secret) for name, secret in found.items()},
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthObserver:
    certificates: OptionalKind[CertificateView]
    secrets: AuthSecrets
    fleet: FleetReader
    clock: Clock

    async def situation(self, instance: FireboltInstance, *, is_live: bool) -> AuthSituation:
        """Everything that is asked for, and when: the time is taken last."""
        metadata, spec = instance.metadata, instance.spec.auth
        spec_problem = aggregate(check_auth(spec, ours(instance)))
        # What a spec that is not valid names is not looked at.
        local = spec.local if spec is not None and spec.enabled and not spec_problem else None
        self._follow(instance, local)
        problem, issued = "", dict[str, Issued]()
        if local is not None:
            _, problem = await self.secrets.admin(metadata.namespace, local, is_live=is_live)
            issued = await self._issued(instance, local, is_live=is_live)
        return AuthSituation(
            instance=metadata.name,
            spec=spec,
            spec_problem=spec_problem,
            status=instance.status.auth,
            fleet=await self._fleet(instance, is_live=is_live) if local is not None else NOBODY,
            admin_problem=problem,
            has_cert_manager=self.certificates.is_served,
            issued=issued,
            # Whole seconds, because a status keeps no more.
            now=self.clock.now().replace(microsecond=0),
        )

    def _follow(self, instance: FireboltInstance, local: LocalAuthSpec | None) -> None:
        metadata, watches = instance.metadata, self.secrets.watches
        key = (metadata.namespace, metadata.name)
        if local is None:
            watches.forget(key)
            return
        wanted = dict.fromkeys((local.admin.password.name, *secrets_of_interest(instance, local)))
        watches.want(key, *(Ref(SECRETS, metadata.namespace, name) for name in wanted))

    async def _issued(self, instance: FireboltInstance, local: LocalAuthSpec, *, is_live: bool) -> dict[str, Issued]:
        namespace = instance.metadata.namespace
        found = dict[str, Issued]()
        for name in secrets_of_interest(instance, local):
            certificate = await self.certificates.read(Ref(CERTIFICATES, namespace, name), is_live=is_live)
            secret = await self.secrets.watches.read(Ref(SECRETS, namespace, name), is_live=is_live)
            found[name] = Issued(certificate=certificate.issued if certificate else None, secret=secret)
        return found

    async def _fleet(self, instance: FireboltInstance, *, is_live: bool) -> Fleet:
        metadata = instance.metadata
        if not is_live:
            return held_keys(self.fleet.known(metadata.namespace, metadata.name), is_live=False)
        try:
            return held_keys(await self.fleet.live(metadata.namespace, metadata.name), is_live=True)
        except (TransientError, RejectedError) as err:
            return Fleet(problem=str(err))
