"""What does an engine get for authentication? Looked up, judged, and added to what it takes from its instance."""

from dataclasses import dataclass, replace

from firebolt_operator.api.instance import FireboltInstance
from firebolt_operator.auth.decide.engine_gate import auth_problem
from firebolt_operator.auth.decide.signing_keys import rendered_keys
from firebolt_operator.auth.observe.observer import AuthSecrets
from firebolt_operator.auth.render.engine_auth import EngineAuth, auth_annotations, auth_config, auth_mounts
from firebolt_operator.engine.decide.gates import Refusal, instance_blocks
from firebolt_operator.engine.inputs import InstanceInfo
from firebolt_operator.errors import RejectedError
from firebolt_operator.policy.auth_checks import check_auth
from firebolt_operator.policy.field_errors import aggregate
from firebolt_operator.policy.secret_references import ours


@dataclass(frozen=True, slots=True)
class EngineAuthentication:
    secrets: AuthSecrets

    async def added(self, instance: FireboltInstance, info: InstanceInfo, *, is_live: bool) -> InstanceInfo | Refusal:
        """`instance` has passed its gate. Without authentication nothing is asked, and nothing is added."""
        auth = instance.spec.auth
        if auth is None or not auth.enabled:
            return info
        if auth.local is None:
            return instance_blocks(
                f'FireboltInstance "{instance.metadata.name}" has auth enabled but spec.auth.local is unset'
            )
        errors = check_auth(auth, ours(instance))
        if errors:
            # Its condition may still speak of what was written before: nothing is mounted that was not judged.
            return instance_blocks(f'FireboltInstance "{instance.metadata.name}": {aggregate(errors)}')
        try:
            seen = await self.secrets.of_engines(instance, auth.local, is_live=is_live)
        except RejectedError as err:
            return instance_blocks(str(err))
        keys = rendered_keys(instance.status.auth)
        problem = auth_problem(keys, seen, instance.metadata.namespace)
        if problem or seen.admin is None:
            return instance_blocks(problem)
        described = EngineAuth(spec=auth, local=auth.local, keys=keys, admin_version=seen.admin.version)
        return replace(
            info,
            is_secured=True,
            secret_mounts=(*info.secret_mounts, *auth_mounts(described)),
            config_sections={**info.config_sections, **auth_config(described)},
            hash_annotations={**info.hash_annotations, **auth_annotations(described)},
        )
