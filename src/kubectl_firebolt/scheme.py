"""Does a listener speak TLS? Told only where it is certain: a listener that does refuses everything else."""

from kubectl_firebolt.manifest import Manifest, spec_of, status_of


def gateway_scheme(instance: Manifest | None) -> str:
    """Empty for unknown."""
    if instance is None:
        return ""
    if status_of(instance).get("gatewayTLS") is not None:
        return "https"
    return "" if _is_asked_for(instance, "gateway") else "http"


def engine_scheme(instance: Manifest | None) -> str:
    """Of the engines of an instance; while TLS is being turned on or off, nobody can tell."""
    if instance is None:
        return ""
    is_asked_for = _is_asked_for(instance, "engine")
    status: Manifest | None = status_of(instance).get("engineTLS")
    if is_asked_for and status is not None and status.get("reencrypting"):
        return "https"
    return "http" if not is_asked_for and status is None else ""


def _is_asked_for(instance: Manifest, listener: str) -> bool:
    tls = spec_of(instance).get("tls") or {}
    return bool((tls.get(listener) or {}).get("enabled"))
