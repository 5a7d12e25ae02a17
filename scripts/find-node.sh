# Sets $node to a Node >= 24 for the launchers in bin/, or ends with one line that says what to do. Expects $root.
if [ ! -d "$root/node_modules/@gyropilot" ]; then
  echo "$(basename "$0"): dependencies are not installed: run 'npm ci' in $root" >&2
  exit 1
fi
if [ -x "$root/node_modules/.bin/node" ]; then
  node=$root/node_modules/.bin/node
else
  node=$(command -v node || true)
  major=$("${node:-false}" -p 'process.versions.node.split(".")[0]' 2>/dev/null || echo 0)
  if [ "$major" -lt 24 ]; then
    echo "$(basename "$0"): needs Node 24 or newer, found ${node:-none} ($major): install Node 24, or run 'npm ci' in $root with optional dependencies" >&2
    exit 1
  fi
fi
