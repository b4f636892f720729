# shellcheck shell=bash
# The private servers of tests and benchmarks: tools/servers makes them; here it is said who needs which.

# Where the servers' folders are made. In memory PostgreSQL copies a database in 20 ms; on a disk it takes 250, because
# ext4 looks past all files that were deleted shortly before.
servers_parent=/tmp
keep_servers_in_memory() {
  local gib
  gib=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)
  if [ "$gib" -ge 8 ] && [ "$(df --output=avail --block-size=1G /dev/shm 2>/dev/null | tail -n 1)" -ge 6 ] 2>/dev/null; then
    servers_parent=/dev/shm
  fi
}

# Short and open to all: a socket's path is short, and the servers may run as users of their own.
new_servers_folder() {
  local folder
  folder=$(mktemp -d "$servers_parent/recourse.XXXXXX") || die "no folder for servers in $servers_parent"
  chmod 711 "$folder"
  printf '%s\n' "$folder"
}

servers=
make_servers_folder() {
  [ -z "$servers" ] || return 0
  trap clean_up EXIT
  trap 'exit 130' INT
  trap 'exit 143' TERM
  servers=$(new_servers_folder) || exit 1
}

# What the background has begun ends with us: builds, and at last the servers.
clean_up() {
  local job
  for job in $(jobs -p); do end_with_children "$job"; done
  [ -n "$servers" ] || return 0
  local kind
  for kind in postgres mariadb rabbitmq redis; do
    [ ! -d "$servers/$kind" ] || tools/servers kill "$kind" "$servers/$kind"
  done
  rm -rf "$servers"
}

# Without procps, which may not be there.
children_of() {
  awk -v parent="$1" '{ number = $1; sub(/.*\) /, ""); if ($2 == parent) print number }' /proc/[0-9]*/stat 2>/dev/null || true
}

# An installation is not broken off: it would leave packages half configured.
end_with_children() {
  local child
  if [ "$(cat "/proc/$1/comm" 2>/dev/null)" = apt-get ]; then
    say "waiting for the installation of packages"
    while [ -e "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; do sleep 0.2; done
    return
  fi
  for child in $(children_of "$1"); do end_with_children "$child"; done
  kill "$1" 2>/dev/null || true
}

# start_server VARIABLE KIND [FLAG...]: its URL goes into the environment that use_servers reads.
start_server() {
  local variable=$1 kind=$2 url
  shift 2
  url=$(tools/servers start "$kind" "$servers/$kind" "$@") || die "no $kind to test with; why is told above"
  printf 'export %s=%q\n' "$variable" "$url" >>"$servers/environment"
}

start_databases() {
  [ ! -d "${servers:-none}/postgres" ] || return 0
  make_servers_folder
  need "to test" "${to_test[@]}"
  say "starting PostgreSQL and MariaDB"
  start_server RECOURSE_TEST_POSTGRES postgres
  start_server RECOURSE_TEST_MARIADB mariadb
}

start_brokers() {
  [ ! -d "${servers:-none}/rabbitmq" ] || return 0
  make_servers_folder
  need "to test" "${to_test[@]}"
  need_brokers
  say "starting RabbitMQ and Redis"
  local tls
  start_server RECOURSE_TEST_RABBITMQ rabbitmq
  tls=$(tools/servers tls rabbitmq "$servers/rabbitmq") || die "RabbitMQ tells no address for TLS"
  printf 'export RECOURSE_TEST_RABBITMQ_TLS=%q\n' "$tls" >>"$servers/environment"
  start_server RECOURSE_TEST_REDIS redis
}

# For figures: they flush to the disk, as in production.
start_durable_databases() {
  [ -z "${RECOURSE_BENCH_POSTGRES:-}" ] || return 0
  make_servers_folder
  need "to measure the stores" "${to_test[@]}"
  say "starting PostgreSQL and MariaDB, durable"
  start_server RECOURSE_BENCH_POSTGRES postgres --durable
  start_server RECOURSE_BENCH_MARIADB mariadb --durable
  use_servers
}

use_servers() {
  # shellcheck source=/dev/null  # written above
  [ ! -e "$servers/environment" ] || . "$servers/environment"
}

# Receivers of webhooks verify them with the scheme's reference implementation, which comes from PyPI: one package
# without dependencies, by the pip that Debian packs as a wheel (with npm it would be 390 packages of Debian's).
install_standardwebhooks() {
  [ ! -d build/python/standardwebhooks ] || return 0
  need "to fetch the reference implementation of Standard Webhooks" python3-pip-whl
  say "fetching the reference implementation of Standard Webhooks"
  local -a pip=(/usr/share/python-wheels/pip-*.whl)
  PYTHONPATH=${pip[0]} /usr/bin/python3 -m pip install --quiet --no-deps --disable-pip-version-check \
    --root-user-action=ignore --target build/python.new 'standardwebhooks==1.*' >&2 ||
    die "pip could not fetch standardwebhooks; see pip's configuration for where it looks"
  mv build/python.new build/python
}
