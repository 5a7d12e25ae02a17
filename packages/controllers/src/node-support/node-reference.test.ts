import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodeReference } from './node-reference.ts'

test('a node is named by name and uid, without its version', () => {
  const metadata = { name: 'n', uid: 'u', resourceVersion: '7', labels: { a: 'b' } }
  assert.deepEqual(nodeReference({ metadata }), {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'n', uid: 'u' },
  })
})
