set -euo pipefail

# Kubernetes before 1.28 does not label pods with their index; the host name ends with it.
if [[ -z "${POD_INDEX:-}" ]]; then
  POD_INDEX="${HOSTNAME##*-}"
fi

# The engine uses its certificate file both as the chain it serves and as the CAs it trusts when it checks itself. An
# issuer hands those out as two files, in a mount that cannot be written to.
if [[ -f /secrets/tls/engine/tls.crt && -f /secrets/tls/engine/ca.crt ]]; then
  cat /secrets/tls/engine/tls.crt /secrets/tls/engine/ca.crt > /run/firebolt/engine-tls-bundle.crt
fi

exec /opt/firebolt/firebolt server --node "$POD_INDEX" --data-dir /var/lib/firebolt
