"""Which keys are left when one is lost? Its id never comes back: engines tell keys apart by nothing else."""

from collections.abc import Sequence

import msgspec

from firebolt_operator.api.auth import AuthStatus, SigningKeyStatus
from firebolt_operator.api.names import SigningKeyPhase
from firebolt_operator.auth.decide.material import Lost, Material, Usable
from firebolt_operator.auth.decide.signing_keys import active_key, replaced, with_key


def without_lost(status: AuthStatus, judged: Sequence[Material]) -> AuthStatus:
    """A good key that is left signs from now on. Nothing is waited for: what the lost one signed is refused anyway."""
    lost = {found.key.id for found in judged if isinstance(found, Lost)}
    left = [key for key in status.signing_keys if key.id not in lost]
    heir = next((found.key for found in judged if isinstance(found, Usable)), None)
    if active_key(left) is None and heir is not None:
        left = with_key(left, _signing(heir))
    return msgspec.structs.replace(
        status,
        signing_keys=left,
        pending_rotation_step="",
        pending_since=None,
        lagging_engines=[],
        lagging_engine_count=0,
    )


def _signing(key: SigningKeyStatus) -> SigningKeyStatus:
    return replaced(key, phase=SigningKeyPhase.ACTIVE.value, demoted_at=None, retire_eligible_at=None)
