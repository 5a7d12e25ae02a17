import assert from 'node:assert/strict'
import { test } from 'node:test'
import { placeWith } from './fixtures.ts'
import { FileStore } from '../files/file-store.ts'
import { FileTree } from '../files/file-tree.ts'
import { inputOf } from '../shell/input.ts'
import { runCommand } from '../shell/run-command.ts'

async function said(script: string, input = ''): Promise<string> {
  let all = ''
  const add = async (text: string | Uint8Array): Promise<void> =>
    void (all += typeof text === 'string' ? text : Buffer.from(text).toString())
  const streams = { stdin: inputOf(Buffer.from(input)), out: add, err: add }
  const root = new FileStore()
  root.makeFolder('/tmp')
  const place = placeWith(new FileTree(root, []))
  await runCommand(['sh', '-c', script], streams, place, new Map())
  return all
}

for (const [script, input, expected] of [
  ['export A=1; echo $A; sh -c "echo \\$A"', '', '1\n1\n'],
  ['A=1; unset A; echo "[$A]"', '', '[]\n'],
  ['read a; echo "got $a"', 'x y\nz\n', 'got x y\n'],
  ['read a b; echo "$b-$a"', ' x  y z \n', 'y z-x\n'],
  ['read a b c; echo "$a$b[$c]"', 'x y\n', 'xy[]\n'],
  ['read; echo $REPLY', 'x\n', 'x\n'],
  ['read a; cat', 'first\nsecond\nthird\n', 'second\nthird\n'],
  ['read a || echo end; read a && echo more', '', 'end\n'],
  ['read a; echo "$? $a"', 'no break', '1 no break\n'],
  ['while read line; do echo "<$line>"; done', 'a\nb\n', '<a>\n<b>\n'],
  ['printenv | grep -c x; seq 3 | while read n; do echo -n $n; done', '', '0\n123'],
  ['read -p "name? " a; echo hi $a', 'you\n', 'name? hi you\n'],
  ['read a; echo "$a"', 'a\\b\\\\c\n', 'ab\\c\n'],
  ['read -r a; echo "$a"', 'a\\b\n', 'a\\b\n'],
  ['read a; (read b; echo $a$b); read c; echo $c', '1\n2\n3\n', '12\n3\n'],
  ['A=1 read b; echo "[$A]$b"', 'x\n', '[]x\n'],
  ['read -t 5 a', 'x\n', 'sh: read: -t: not known to simulated containers\n'],
] as const)
  test(`${script}: ${JSON.stringify(input)}`, async () =>
    assert.equal(await said(script, input), expected))
