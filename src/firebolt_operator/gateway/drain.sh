# Runs before Envoy is told to stop, because Envoy then stops at once. The image has no curl, so bash itself talks to
# Envoy's admin interface.
ADMIN_PORT=9901
SPREAD_SECONDS=8  # until no client is sent here any more: two failed probes, then the endpoint's removal everywhere
LAST_SECOND=14    # of the 15 that Kubernetes grants

admin() {
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$ADMIN_PORT" || return
  printf '%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1" >&3
  while IFS= read -r line; do printf '%s\n' "$line"; done <&3
  exec 3>&-
}

has_running_queries() {
  [[ "$(admin 'GET /stats?filter=^http.gateway.downstream_rq_active$')" == *'downstream_rq_active: '[1-9]* ]]
}

SECONDS=0
admin 'POST /healthcheck/fail'
sleep "$SPREAD_SECONDS"
while ((SECONDS < LAST_SECOND)) && has_running_queries; do sleep 0.25; done
