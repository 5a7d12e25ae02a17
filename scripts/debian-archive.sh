# Sourced: apt on folders of its own, with the mirror that the machine's sources name and Debian's keyring. Needs no root and
# changes nothing of the system. An archive whose signature does not verify is an error, never a question.

# Base addresses of the archives that the machine's own sources name for its release.
debian_archives() {
  local release
  release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
  apt-get update --print-uris 2>/dev/null |
    sed -nE "s#^'([^']+)/dists/(${release:-sid}|stable|testing|unstable|sid)/InRelease'.*#\1#p" | awk '!seen[$0]++'
}

# debian_open ARCHIVE SUITE WORK: empties the folder WORK and fetches the lists of the suite into it; after it `apt` holds the
# options for apt-get and apt-cache. Packages are downloaded into WORK/package.
debian_open() {
  local archive=$1 suite=$2 work=$3 keyring
  rm -rf "${work:?}"/*
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
  apt=(-qq -o "Dir::Etc::SourceList=$work/none" -o "Dir::Etc::SourceParts=$work/sources" -o "Dir::State::Lists=$work/lists"
    -o "Dir::State::status=$work/status" -o "Dir::Cache=$work/cache"
    -o APT::Get::AllowUnauthenticated=false -o Acquire::AllowInsecureRepositories=false -o Acquire::Languages=none
    -o Acquire::Retries=1 -o Acquire::http::Timeout=10 -o Acquire::https::Timeout=10)
  apt-get update "${apt[@]}" -o APT::Update::Error-Mode=any >&2
}
