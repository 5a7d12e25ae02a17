import assert from 'node:assert/strict'
import { test } from 'node:test'
import { takesFirstTaints } from './nodes.ts'

test('only with the node lifecycle controller are nodes waited for: nobody else takes their first taint', () => {
  for (const [items, isTaken] of [
    [['*'], true],
    [['*', '-deployment'], true],
    [['nodelifecycle'], true],
    [['*', '-node-lifecycle-controller'], false],
    [['garbage-collector-controller'], false],
    [[], false],
  ] as const)
    assert.equal(takesFirstTaints(items), isTaken, items.join())
})
