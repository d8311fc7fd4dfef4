"""When must pods restart because of their configuration? When this value changes."""

import hashlib


def config_hash(text: str) -> str:
    """Pods do not reload their configuration; an annotation with this value on the pod template rolls them."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]
