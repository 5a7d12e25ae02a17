import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'
import { placeWith, saidWith } from './fixtures.ts'

const refused = (what: string): string => `${what} is not known to simulated containers\n(1)`

for (const [script, expected] of [
  ['echo a > /e/t; echo b | tee -a /e/t /e/new; cat /e/t /e/new', 'b\na\nb\nb\n'],
  ['echo a > /e/t; echo b | tee /e/t; cat /e/t', 'b\nb\n'],
  ['tee -p /e/t', refused('tee: -p')],
  ['mkdir -p /e/x/y; rm -R /e/x; mkdir /e/x; rm -Rf /e/x /e/none; ls /e', ''],
  ['mkdir /e/x; rm -f /e/x', "rm: '/e/x' is a directory\n(1)"],
  ['rm -i /e/x', refused('rm: -i')],
  ['mkdir -m 700 /e/x; stat -c %a /e/x; ls /e', '700\nx\n'],
  ['mkdir -Z /e/x', refused('mkdir: -Z')],
  ['touch -c /e/none; touch -a /e/x; ls /e', 'x\n'],
  ['touch -d 2020-01-01 /e/x', refused('touch: -d')],
  ['touch /e/.x /e/y; ls /e; ls -A /e', 'y\n.x\ny\n'],
  ['cat -n /e/x', refused('cat: -n')],
  ['wc -L /e/x', refused('wc: -L')],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))

test('a script with an option that is not known is told to the place before anything is done', async () => {
  const unknown: string[] = []
  const streams = { stdin: inputOf(new Uint8Array(0)), out: async () => {}, err: async () => {} }
  const place = {
    ...placeWith(new FileTree(new FileStore(), [])),
    onUnknown: (what: string) => void unknown.push(what),
  }
  const script = 'tail --pid=1 /a; seq -f %g 2; uname -x; date +%V; grep -P a; id nobody'
  await runCommand(['sh', '-c', script], streams, place, new Map())
  assert.deepEqual(unknown, [
    'tail --pid=1',
    'seq -f',
    'uname -x',
    'date +%V',
    'grep -P',
    'id nobody',
  ])
})
