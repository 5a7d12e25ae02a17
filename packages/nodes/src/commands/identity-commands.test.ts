import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

for (const [script, expected] of [
  ['id', 'uid=0(root) gid=0(root) groups=0(root)\n'],
  ['id -u; id -un; id -g -n; id -Gn', '0\nroot\nroot\nroot\n'],
  ['id -n', 'id: cannot print only names or real IDs in default format\n(1)'],
  ['id nobody', 'id: nobody is not known to simulated containers\n(1)'],
  ['uname; uname -m; uname -r; uname -n', 'Linux\nx86_64\n6.12.0-simulated\np\n'],
  ['uname -a; uname -mn', 'Linux p 6.12.0-simulated #1 SMP x86_64 Linux\np x86_64\n'],
  ['uname -x', 'uname: -x is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))
