# Runs before Envoy is told to stop, because Envoy then stops at once. The renderer puts GRACE_SECONDS, what Kubernetes
# grants, before this file. The image has no curl, so bash itself talks to Envoy's admin interface.
ADMIN_PORT=9901
SPREAD_SECONDS=8  # until no client is sent here any more: two failed probes, then the endpoint's removal everywhere
CLIENT_PORT=1F90  # 8080, as the kernel writes it

admin() {
  local line
  exec 3<>"/dev/tcp/127.0.0.1/$ADMIN_PORT" || return
  printf '%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n' "$1" >&3
  while IFS= read -r line; do printf '%s\n' "$line"; done <&3
  exec 3>&-
}

# A query has ended when its client has the whole answer: Envoy counts it as done once the answer is in its buffer.
has_running_queries() {
  local stats
  stats="$(admin 'GET /stats?filter=^http.gateway.downstream_(rq_active|cx_tx_bytes_buffered)$')"
  [[ "$stats" == *'rq_active: '[1-9]* || "$stats" == *'bytes_buffered: '[1-9]* ]] || has_unsent_answers
}

# What the kernel still has goes with the pod's network.
has_unsent_answers() {
  local here queues
  while read -r _ here _ _ queues _; do
    [[ "$here" == *":$CLIENT_PORT" && "${queues%:*}" != 00000000 ]] && return
  done </proc/net/tcp
  return 1
}

SECONDS=0
admin 'POST /healthcheck/fail'
sleep "$SPREAD_SECONDS"
while ((SECONDS < GRACE_SECONDS - 1)) && has_running_queries; do sleep 0.25; done
