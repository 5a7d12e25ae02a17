#!/usr/bin/env bash
# Prints the path of a kubectl from 1.32 to 1.36 for the end-to-end tests, or ends with one line that says what to do.
#
#   scripts/find-kubectl.sh             $KUBECTL, else the one on PATH, else --fetched
#   scripts/find-kubectl.sh --fetched   the newest that Debian has, from its signed archive, kept in .gyropilot/kubectl
#
# Fetching needs no root and changes nothing of the system: scripts/debian-archive.sh.
set -euo pipefail

readonly OLDEST=32 NEWEST=36
readonly RANGE="kubectl 1.$OLDEST to 1.$NEWEST"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=$root/.gyropilot/kubectl
. "$root/scripts/debian-archive.sh"

fail() {
  echo "find-kubectl: $*; the end-to-end tests need $RANGE: install it, or set KUBECTL to its path" >&2
  exit 1
}

# The minor version of a kubectl, or nothing when it does not run on this machine.
minor_of() {
  "$1" version --client -o json 2>/dev/null | sed -n 's/.*"gitVersion": "v1\.\([0-9]*\)\..*/\1/p' | head -n 1
}

is_in_range() {
  [[ $1 =~ ^[0-9]+$ ]] && (($1 >= OLDEST && $1 <= NEWEST))
}

# fetch_from ARCHIVE SUITE: prints the path of the kubectl, fails when there is none in range.
fetch_from() {
  local archive=$1 suite=$2 version minor apt
  debian_open "$archive" "$suite" "$work" || return 1
  while read -r version; do
    minor=$(sed -nE 's/^1\.([0-9]+)\..*/\1/p' <<<"$version")
    is_in_range "$minor" || continue
    (cd "$work/package" && apt-get download "${apt[@]}" "kubectl=$version" >&2) || return 1
    dpkg-deb -x "$work"/package/kubectl_*.deb "$work/files"
    is_in_range "$(minor_of "$work/files/usr/bin/kubectl")" || continue
    mkdir -p "$cache"
    # Another file system, perhaps: only a renaming within one is a single step.
    mv "$work/files/usr/bin/kubectl" "$cache/.kubectl.$$"
    mv "$cache/.kubectl.$$" "$cache/kubectl-${version%%+*}"
    echo "$cache/kubectl-${version%%+*}"
    return 0
  done < <(apt-cache madison "${apt[@]}" kubectl | awk -F'[ |]+' '{ print $3 }')
  echo "find-kubectl: $archive $suite has no $RANGE that runs here" >&2
  return 1
}

fetched() {
  local kept archive suite
  for kept in $(ls -r "$cache" 2>/dev/null); do
    if is_in_range "$(minor_of "$cache/$kept")"; then
      echo "$cache/$kept"
      return
    fi
  done
  command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
    fail 'no kubectl that is new enough, and no apt to fetch one with'
  echo 'find-kubectl: fetching kubectl from the Debian archive' >&2
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  chmod 755 "$work"
  for archive in $(debian_archives); do
    for suite in unstable testing stable; do
      fetch_from "$archive" "$suite" && return
    done
  done
  fail 'no archive among the apt sources of this machine gives one'
}

case ${1:-} in
'')
  if [ -n "${KUBECTL:-}" ]; then
    is_in_range "$(minor_of "$KUBECTL")" || fail "KUBECTL=$KUBECTL is not such a kubectl"
    echo "$KUBECTL"
  elif found=$(command -v kubectl) && is_in_range "$(minor_of "$found")"; then
    echo "$found"
  else
    fetched
  fi
  ;;
--fetched) fetched ;;
*) fail "unknown argument $1" ;;
esac
