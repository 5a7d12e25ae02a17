import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { orphanDependents } from './attempt-to-orphan.ts'
import {
  CONFLICT,
  NOT_FOUND,
  TestGraph,
  UNSUPPORTED_MEDIA_TYPE,
  found,
  object,
  owner,
  ref,
  testCollector,
} from './fixtures.ts'

const WIDGET = { kind: 'Widget', apiVersion: 'example.com/v1' }

function orphan(graph: TestGraph, onWrite?: (write: Write) => Outcome | undefined) {
  const widget = object('w', { ...WIDGET, resourceVersion: '5', owners: [ref('rc'), ref('b')] })
  return drive(orphanDependents(graph.node('rc'), testCollector(graph)), {
    onWrite,
    onRead: (read) => (read.verb === 'get' && read.name === 'w' ? found(widget) : NOT_FOUND),
  })
}

function graphOf(...dependents: Parameters<TestGraph['add']>[0][]): TestGraph {
  const graph = new TestGraph()
  graph.add(owner('rc', { deleting: true, finalizers: ['orphan'] }))
  for (const dependent of dependents) graph.add(dependent)
  return graph
}

test('Orphaning patches only dependents known in the graph, in parallel, and leaves their other owners', () => {
  const graph = graphOf(
    object('a', { owners: [ref('rc')] }),
    object('b', { owners: [ref('x'), ref('rc')] }),
  )
  const { result, effects, writes } = orphan(graph)
  assert.deepEqual(result, { ok: true })
  assert.equal(effects.length, 1)
  assert.ok(effects[0]?.effect === 'writes' && effects[0].order === 'parallel')
  const bodies = writes.map((write) => write.verb === 'patch' && [write.name, write.patch])
  const bodyFor = (uid: string) => ({
    type: 'strategic',
    value: { metadata: { uid, ownerReferences: [{ $patch: 'delete', uid: 'rc-uid' }] } },
  })
  assert.deepEqual(bodies, [
    ['a', bodyFor('a-uid')],
    ['b', bodyFor('b-uid')],
  ])
})

test('an owner without dependents needs no request', () => {
  const { result, effects } = orphan(graphOf())
  assert.deepEqual([result, effects], [{ ok: true }, []])
})

test('a dependent that is gone is no error; any other failure is, after all were tried', () => {
  const graph = graphOf(
    object('a', { owners: [ref('rc')] }),
    object('b', { owners: [ref('rc')] }),
    object('c', { kind: 'Unheard', owners: [ref('rc')] }),
  )
  const gone = graphOf(object('a', { owners: [ref('rc')] }))
  assert.deepEqual(orphan(gone, () => NOT_FOUND).result, { ok: true })
  const { result, writes } = orphan(graph, () => CONFLICT)
  assert.equal(result.ok, false)
  assert.equal(writes.length, 2)
})

test('dependents of types without strategic merge are patched by merge', () => {
  const graph = graphOf(object('w', { ...WIDGET, owners: [ref('rc'), ref('b')] }))
  const { result, writes } = orphan(graph, (write) =>
    write.verb === 'patch' && write.patch.type === 'strategic' ? UNSUPPORTED_MEDIA_TYPE : undefined,
  )
  assert.deepEqual(result, { ok: true })
  const [, write] = writes
  assert.ok(write?.verb === 'patch')
  const value = { metadata: { resourceVersion: '5', ownerReferences: [ref('b')] } }
  assert.deepEqual(write.patch, { type: 'merge', value })
})
