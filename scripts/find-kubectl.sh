#!/usr/bin/env bash
# Prints the path of a kubectl from 1.32 to 1.36 for the end-to-end tests, or ends with one line that says what to do.
#
#   scripts/find-kubectl.sh             $KUBECTL, else the one on PATH, else --fetched
#   scripts/find-kubectl.sh --fetched   the newest that Debian has, from its signed archive, kept in .gyropilot/kubectl
#
# Fetching needs no root and changes nothing of the system: apt works on folders of its own, with the mirror that the
# machine's sources name and Debian's keyring. An archive whose signature does not verify is an error, never a question.
set -euo pipefail

readonly OLDEST=32 NEWEST=36
readonly RANGE="kubectl 1.$OLDEST to 1.$NEWEST"
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
cache=$root/.gyropilot/kubectl

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

# Base addresses of the archives that the machine's own sources name for its release.
archives() {
  local release
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get update --print-uris 2>/dev/null |
    sed -nE "s#^'([^']+)/dists/(${release:-sid}|stable|testing|unstable|sid)/InRelease'.*#\1#p" | awk '!seen[$0]++'
}

# fetch_from ARCHIVE SUITE: prints the path of the kubectl, fails when there is none in range.
fetch_from() {
  local archive=$1 suite=$2 keyring version minor
  rm -rf "$work"/*
  mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/sources" "$work/package" "$work/files"
  : >"$work/status"
  printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\n' "$archive" "$suite" >"$work/sources/debian.sources"
  for keyring in /usr/share/keyrings/debian-archive-keyring.{gpg,pgp}; do
    [ -r "$keyring" ] && echo "Signed-By: $keyring" >>"$work/sources/debian.sources" && break
  done
  # apt downloads as this user when it is started as root.
  if [ "$(id -u)" = 0 ] && id _apt >/dev/null 2>&1; then
    chown -R _apt "$work/lists/partial" "$work/cache/archives/partial" "$work/package"
  fi
  local apt=(-qq -o "Dir::Etc::SourceList=$work/none" -o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists"
    -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
    -o APT::Get::AllowUnauthenticated=false -o Acquire::AllowInsecureRepositories=false -o Acquire::Languages=none
    -o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
  apt-get update "${apt[@]}" -o APT::Update::Error-Mode=any >&2 || return 1
  while read -r version; do
    minor=$(sed -nE 's/^1\.([0-9]+)\..*/\1/p' <<<"$version")
    is_in_range "$minor" || continue
    (cd "$work/package" && apt-get download "${apt[@]}" "kubectl=$version" >&2) || return 1
    dpkg-deb -x "$work"/package/kubectl_*.deb "$work/files"
    is_in_range "$(minor_of "$work/files/usr/bin/kubectl")" || continue
    mkdir -p "$cache"
    mv "$work/files/usr/bin/kubectl" "$cache/kubectl-${version%%+*}"
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
  for archive in $(archives); do
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
