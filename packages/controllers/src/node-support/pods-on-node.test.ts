import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { fakeInformers, keysOf } from '@gyropilot/runtime/testing'
import { podsOnNode } from './pods-on-node.ts'

function pod(name: string, spec: object): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'ns' }, spec } as Pod
}

test('pods are found by the node they are bound to', () => {
  const pods = [pod('a', { nodeName: 'n' }), pod('b', { nodeName: 'm' }), pod('c', {})]
  const informers = fakeInformers([...pods, pod('d', { nodeName: 'n' })])
  const podsOn = podsOnNode(informers)
  assert.deepEqual(keysOf(podsOn('n')), ['ns/a', 'ns/d'])
  assert.deepEqual(keysOf(podsOn('')), [])
  // Another controller of the process asks for the same.
  assert.deepEqual(keysOf(podsOnNode(informers)('m')), ['ns/b'])
})
