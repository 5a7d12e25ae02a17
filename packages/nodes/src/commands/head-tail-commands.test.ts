import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

const files = { '/n': '1\n2\n3\n4\n', '/open': 'a\nb' }

for (const [script, expected] of [
  ['head -c 3 /n', '1\n2'],
  ['head -c3 /n', '1\n2'],
  ['head --lines=1 /n', '1\n'],
  ['head -n -3 /n; head -c -7 /n', '1\n1'],
  ['head -n 0 /n; head -c 0 /n; head -n 9 /n', '1\n2\n3\n4\n'],
  ['head -n 2 /open', 'a\nb'],
  ['head -c 1k /open', 'a\nb'],
  ['tail -c 2 /n', '4\n'],
  ['tail -c +7 /n', '4\n'],
  ['tail -n +4 /n; tail -n+4 /n; tail -n +0 /open', '4\n4\na\nb'],
  ['tail -2 /n; tail -n 1 /open', '3\n4\nb'],
  ['tail -n 0 /n; tail -n 9 /n; tail -n +9 /n', '1\n2\n3\n4\n'],
  ['head -qn1 /n /open; head -vn 1 /n', '1\na\n==> /n <==\n1\n'],
  ['tail -fn1 /n', '4\n'],
  ['tail -n1 -f -s 2 /n', '4\n'],
  ['head -n x /n', "head: invalid number 'x'\n(1)"],
  ['head -z /n', 'head: -z is not known to simulated containers\n(1)'],
  ['tail --pid=1 /n', 'tail: --pid=1 is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith(files, script), expected))
