#!/bin/bash
# Starts PostgreSQL. On an empty data directory it first makes the database that the environment describes:
# POSTGRES_USER, POSTGRES_PASSWORD, POSTGRES_DB, POSTGRES_INITDB_ARGS, POSTGRES_HOST_AUTH_METHOD (each but the last also
# with _FILE appended, naming a file that holds the value), and whatever lies in /docker-entrypoint-initdb.d.
set -euo pipefail

SERVER_USER=70
SCRIPTS=/docker-entrypoint-initdb.d

fail() {
  echo "postgres: $*" >&2
  exit 1
}

from_file() {
  local name=$1 file_name="$1_FILE"
  [[ -n "${!file_name:-}" ]] || return 0
  [[ -z "${!name:-}" ]] || fail "$name and $file_name are both set; set one of them"
  export "$name"="$(<"${!file_name}")"
  unset "$file_name"
}

read_environment() {
  local name
  for name in POSTGRES_USER POSTGRES_PASSWORD POSTGRES_DB POSTGRES_INITDB_ARGS; do from_file "$name"; done
  POSTGRES_USER=${POSTGRES_USER:-postgres}
  POSTGRES_DB=${POSTGRES_DB:-$POSTGRES_USER}
  AUTH_METHOD=${POSTGRES_HOST_AUTH_METHOD:-scram-sha-256}
  [[ -n "${POSTGRES_PASSWORD:-}" || "$AUTH_METHOD" == trust ]] ||
    fail "an empty data directory needs POSTGRES_PASSWORD (or POSTGRES_HOST_AUTH_METHOD=trust, which lets everybody in)"
}

make_database_files() {
  local data=$1
  # shellcheck disable=SC2086 # the arguments are words
  initdb --pgdata="$data" --username="$POSTGRES_USER" --encoding=UTF8 --locale=C.UTF-8 \
    --pwfile=<(printf '%s\n' "${POSTGRES_PASSWORD:-}") ${POSTGRES_INITDB_ARGS:-}
  echo "listen_addresses = '*'" >>"$data/postgresql.conf"
  printf '\nhost all all all %s\n' "$AUTH_METHOD" >>"$data/pg_hba.conf"
}

sql() {
  PGPASSWORD=${POSTGRES_PASSWORD:-} psql --no-psqlrc --no-password --quiet -v ON_ERROR_STOP=1 \
    --username "$POSTGRES_USER" "$@"
}

run_scripts() {
  local script
  for script in "$SCRIPTS"/*; do
    case $script in
      *.sh) if [[ -x $script ]]; then "$script"; else . "$script"; fi ;;
      *.sql) sql --dbname "$POSTGRES_DB" --file "$script" ;;
    esac
  done
}

fill_database() {
  local data=$1
  # Nobody but this script is to reach it yet: no address, only the socket.
  pg_ctl --pgdata="$data" --silent --wait -o "-c listen_addresses=''" start
  if [[ "$POSTGRES_DB" != postgres ]]; then
    sql --dbname postgres --set name="$POSTGRES_DB" <<<'CREATE DATABASE :"name";'
  fi
  run_scripts
  pg_ctl --pgdata="$data" --silent --wait --mode=fast stop
}

initialise() {
  read_environment
  # Beside its final place where that is possible: killed half-way, the next start begins anew.
  local data=$PGDATA
  if [[ ! -e "$PGDATA" && -w "$(dirname "$PGDATA")" ]]; then
    data=$PGDATA.unfinished
    rm -rf "$data"
  fi
  make_database_files "$data"
  fill_database "$data"
  [[ "$data" == "$PGDATA" ]] || mv "$data" "$PGDATA"
}

[[ "${1:-}" == -* ]] && set -- postgres "$@"
if [[ "${1:-}" == postgres ]]; then
  if [[ "$(id -u)" == 0 ]]; then
    mkdir -p "$PGDATA" /var/run/postgresql
    chown -R "$SERVER_USER:$SERVER_USER" "$PGDATA" /var/run/postgresql
    exec chroot --userspec="$SERVER_USER:$SERVER_USER" / "$0" "$@"
  fi
  [[ -s "$PGDATA/PG_VERSION" ]] || initialise
fi
exec "$@"
