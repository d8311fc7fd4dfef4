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

# What the kernel still has goes with the pod's network. Read at once: line by line, bash would seek in a file that
# changes under it, and miss sockets. Local address, remote address, state, and bytes not acknowledged yet.
has_unsent_answers() {
  [[ "$(</proc/net/tcp)" =~ :$CLIENT_PORT\ [0-9A-F]+:[0-9A-F]+\ [0-9A-F]+\ 0*[1-9A-F] ]]
}

is_busy() {
  local _
  for _ in 1 2 3; do
    has_running_queries && return
    sleep 0.1
  done
  return 1
}

SECONDS=0
admin 'POST /healthcheck/fail'
sleep "$SPREAD_SECONDS"
while ((SECONDS < GRACE_SECONDS - 1)) && is_busy; do sleep 0.25; done
