import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node } from '@gyropilot/api'
import { csiNode, registeredAgain } from './driver-objects.ts'

const node = (uid: string, labels = {}): Node => ({ metadata: { name: 'n', uid, labels } })

test('a node that its cloud has given a zone since registers its drivers with their first topology keys', () => {
  const first = { ...csiNode(node('u')), metadata: { name: 'n', resourceVersion: '7' } }
  const labels = { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' }
  const again = registeredAgain(first, csiNode(node('v', labels), 5))
  assert.deepEqual(
    again.spec.drivers[0]?.topologyKeys,
    csiNode(node('u')).spec.drivers[0]?.topologyKeys,
  )
  assert.equal(again.spec.drivers[0]?.allocatable?.count, 5)
  assert.equal(again.metadata?.resourceVersion, '7')
  assert.equal(again.metadata?.ownerReferences?.[0]?.uid, 'v')
})

test('a driver that was not registered before has the keys of today', () => {
  const none = { ...csiNode(node('u')), spec: { drivers: [] } }
  const wanted = csiNode(node('u', { 'topology.kubernetes.io/zone': 'z' }))
  assert.deepEqual(registeredAgain(none, wanted).spec, wanted.spec)
})
