import assert from 'node:assert/strict'
import { test } from 'node:test'
import { saidWith } from './fixtures.ts'

for (const [script, expected] of [
  ['seq 0 5 20', '0\n5\n10\n15\n20\n'],
  ['seq 3 -1 1', '3\n2\n1\n'],
  ['seq -1 1; seq 5 1', '-1\n0\n1\n'],
  ['seq -w 8 10', '08\n09\n10\n'],
  ['seq -w -1 1', '-1\n00\n01\n'],
  ['seq -s , 3; seq -s, 2', '1,2,3\n1,2\n'],
  ['seq 1 0.1 1.3', '1.0\n1.1\n1.2\n1.3\n'],
  ['seq 1 0 2', "seq: invalid Zero increment value: '0'\n(1)"],
  ['seq x', "seq: invalid number 'x'\n(1)"],
  ['seq -f %g 3', 'seq: -f is not known to simulated containers\n(1)'],
  ['seq 200000', 'seq: 200000 is not known to simulated containers\n(1)'],
] as const)
  test(script, async () => assert.equal(await saidWith({}, script), expected))
