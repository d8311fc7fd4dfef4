"""What makes an engine take new nodes and change nothing else? The note that `kubectl rollout restart` writes, too."""

from datetime import datetime
from typing import Final

from kubectl_firebolt.manifest import Manifest

RESTARTED_AT: Final = "kubectl.kubernetes.io/restartedAt"


def restart_patch(now: datetime) -> Manifest:
    note = {RESTARTED_AT: now.strftime("%Y-%m-%dT%H:%M:%SZ")}
    return {"spec": {"template": {"metadata": {"annotations": note}}}}
