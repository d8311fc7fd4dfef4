#!/bin/bash
# Arguments alone mean Envoy; root starts it as the user that the image is made for.
set -euo pipefail

ENVOY_UID=${ENVOY_UID:-101}

[[ "${1:-}" == -* ]] && set -- envoy "$@"
if [[ "${1:-}" == envoy && "$ENVOY_UID" != 0 && "$(id -u)" == 0 ]]; then
  exec chroot --userspec="$ENVOY_UID:${ENVOY_GID:-101}" / "$@"
fi
exec "$@"
