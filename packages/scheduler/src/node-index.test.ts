import assert from 'node:assert/strict'
import { test } from 'node:test'
import { node, pod } from '@gyropilot/api/testing'
import { NodeIndex } from './node-index.ts'
import { ChangedSnapshot, snapshotOf } from './snapshot.ts'

const inZone = (name: string, zone: string) =>
  node({ name, labels: { 'topology.kubernetes.io/zone': zone } })
const names = (index: { readonly nodes: readonly { readonly name: string }[] }) =>
  index.nodes.map(({ name }) => name)

const apart = {
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: 'kubernetes.io/hostname' }],
  },
}

test('nodes stand in turn from each zone, and only while they have an object', () => {
  const index = new NodeIndex()
  for (const [name, zone] of [
    ['a1', 'a'],
    ['a2', 'a'],
    ['a3', 'a'],
    ['b1', 'b'],
  ] as const)
    index.setNode(inZone(name, zone))
  index.place(pod({ spec: { containers: [] } }), 'unknown')
  assert.deepEqual(names(index), ['a1', 'b1', 'a2', 'a3'])
  index.setNode(inZone('a2', 'b'))
  assert.deepEqual(names(index), ['a1', 'a2', 'a3', 'b1'])
  index.removeNode('a1')
  assert.equal(names(index).includes('a1'), false)
})

test('nothing is kept of a node that goes before its pods do', () => {
  const index = new NodeIndex()
  const last = pod({ name: 'last' })
  index.setNode(node({ name: 'n' }))
  index.place(last, 'n')
  index.removeNode('n')
  assert.notEqual(index.get('n'), undefined)
  index.unplace(last.metadata?.uid ?? '')
  assert.equal(index.get('n'), undefined)
})

test('news of a node matters when labels, taints or allocatable change or it is let in again, not when it beats or is cordoned', () => {
  const index = new NodeIndex()
  const given = node({ name: 'n' })
  assert.equal(index.setNode(given), true)
  assert.equal(
    index.setNode({ ...given, metadata: { ...given.metadata, resourceVersion: '9' } }),
    false,
  )
  assert.equal(index.setNode(node({ name: 'n', labels: { disk: 'ssd' } })), true)
  assert.equal(
    index.setNode(node({ name: 'n', labels: { disk: 'ssd' }, spec: { unschedulable: true } })),
    false,
  )
  assert.equal(index.setNode(node({ name: 'n', labels: { disk: 'ssd' } })), true)
  const more = { cpu: '4', memory: '4Gi', pods: '110' }
  assert.equal(
    index.setNode(
      node({
        name: 'n',
        labels: { disk: 'ssd' },
        spec: { unschedulable: true },
        allocatable: more,
      }),
    ),
    true,
  )
})

test('pods that keep others away are known without looking at all', () => {
  const index = new NodeIndex()
  for (const name of ['n1', 'n2']) index.setNode(node({ name }))
  const selfish = pod({ name: 'selfish', spec: { affinity: apart } })
  index.place(pod({ name: 'other' }), 'n1')
  assert.deepEqual(index.repelling, [])
  index.place(selfish, 'n2')
  assert.deepEqual(
    index.repelling.map(({ name }) => name),
    ['n2'],
  )
  index.place(selfish, 'n1')
  assert.deepEqual(
    index.repelling.map(({ name }) => name),
    ['n1'],
  )
  const info = index.get('n1')!
  const without = new ChangedSnapshot(index, info, info.without(new Set(['uid-selfish'])))
  assert.deepEqual(without.repelling, [])
  assert.deepEqual(names(without), names(index))
  const with2 = index.get('n2')!.with([selfish])
  const changed = new ChangedSnapshot(snapshotOf(index.nodes), index.get('n2')!, with2)
  assert.deepEqual(
    changed.repelling.map(({ name }) => name),
    ['n1', 'n2'],
  )
  assert.ok(changed.nodes.includes(with2))
  assert.equal(index.unplace('uid-selfish'), true)
  assert.equal(index.unplace('uid-selfish'), false)
  assert.deepEqual(index.repelling, [])
})

test('a node whose object goes keeps its pods for when it comes back', () => {
  const index = new NodeIndex()
  index.setNode(node({ name: 'n' }))
  index.place(pod(), 'n')
  index.removeNode('n')
  assert.deepEqual([names(index), index.has('uid-p')], [[], true])
  index.setNode(node({ name: 'n' }))
  assert.equal(index.get('n')?.pods.size, 1)
})
