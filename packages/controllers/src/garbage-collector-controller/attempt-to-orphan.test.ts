import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { attemptToOrphan } from './attempt-to-orphan.ts'
import {
  CONFLICT,
  NOT_FOUND,
  TestGraph,
  UNSUPPORTED_MEDIA_TYPE,
  found,
  listed,
  object,
  owner,
  ref,
  refused,
  testCollector,
} from './fixtures.ts'

const DONE = { next: 'remove-finalizer' }
const WIDGET = { kind: 'Widget', apiVersion: 'example.com/v1' }

function orphan(
  graph: TestGraph,
  onWrite?: (write: Write) => Outcome | undefined,
  pods: Outcome = listed([]),
) {
  const widget = object('w', { ...WIDGET, resourceVersion: '5', owners: [ref('rc'), ref('b')] })
  return drive(attemptToOrphan(graph.node('rc'), testCollector(graph)), {
    onWrite,
    onRead(read) {
      if (read.verb === 'list') return read.type.resource === 'pods' ? pods : listed([])
      return read.verb === 'get' && read.name === 'w' ? found(widget) : NOT_FOUND
    },
  })
}

function graphOf(...dependents: Parameters<TestGraph['add']>[0][]): TestGraph {
  const graph = new TestGraph()
  graph.add(owner('rc', { deleting: true, finalizers: ['orphan'] }))
  for (const dependent of dependents) graph.add(dependent)
  return graph
}

test('Orphaning patches the dependents known in the graph, in parallel, and leaves their other owners', () => {
  const graph = graphOf(
    object('a', { owners: [ref('rc')] }),
    object('b', { owners: [ref('x'), ref('rc')] }),
  )
  const { result, effects, writes } = orphan(graph)
  assert.deepEqual(result, DONE)
  assert.equal(effects.length, 2)
  assert.ok(effects[1]?.effect === 'writes' && effects[1].order === 'parallel')
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

test('an owner without dependents costs a look for them', () => {
  const { result, effects } = orphan(graphOf())
  assert.deepEqual([result, effects.map(({ effect }) => effect)], [DONE, ['read']])
})

test('a dependent that only the server knows is freed too, each once', () => {
  const known = object('a', { owners: [ref('rc')] })
  const unseen = object('b', { owners: [ref('x'), ref('rc')] })
  const stranger = object('c', { owners: [ref('x')] })
  const { result, writes } = orphan(graphOf(known), undefined, listed([known, unseen, stranger]))
  assert.deepEqual(result, DONE)
  assert.deepEqual(
    writes.map((write) => 'name' in write && write.name),
    ['a', 'b'],
  )
})

test('nobody is released on a look that failed', () => {
  const failure = refused(503, 'ServiceUnavailable')
  const { result, writes } = orphan(
    graphOf(object('a', { owners: [ref('rc')] })),
    undefined,
    failure,
  )
  assert.deepEqual([result, writes], [{ next: 'retry', error: !failure.ok && failure.error }, []])
})

test('a dependent that is gone is no error; any other failure is, after all were tried', () => {
  const graph = graphOf(
    object('a', { owners: [ref('rc')] }),
    object('b', { owners: [ref('rc')] }),
    object('c', { kind: 'Unheard', owners: [ref('rc')] }),
  )
  const gone = graphOf(object('a', { owners: [ref('rc')] }))
  assert.deepEqual(orphan(gone, () => NOT_FOUND).result, DONE)
  const { result, writes } = orphan(graph, () => CONFLICT)
  assert.equal(result.next, 'retry')
  assert.equal(writes.length, 2)
})

test('dependents of types without strategic merge are patched by merge', () => {
  const graph = graphOf(object('w', { ...WIDGET, owners: [ref('rc'), ref('b')] }))
  const { result, writes } = orphan(graph, (write) =>
    write.verb === 'patch' && write.patch.type === 'strategic' ? UNSUPPORTED_MEDIA_TYPE : undefined,
  )
  assert.deepEqual(result, DONE)
  const [, write] = writes
  assert.ok(write?.verb === 'patch')
  const value = { metadata: { resourceVersion: '5', ownerReferences: [ref('b')] } }
  assert.deepEqual(write.patch, { type: 'merge', value })
})

test('an owner is not released while a dependent is of a kind that nobody serves', () => {
  const graph = graphOf(
    object('a', { owners: [ref('rc')] }),
    object('c', { kind: 'Unheard', owners: [ref('rc')] }),
  )
  const { result, writes } = orphan(graph)
  assert.deepEqual([result.next, writes.length], ['retry', 1])
})

test('a namesake of a dependent keeps its owners', () => {
  const graph = graphOf(object('w', { ...WIDGET, uid: 'an-earlier-uid', owners: [ref('rc')] }))
  const { result, writes } = orphan(graph, () => UNSUPPORTED_MEDIA_TYPE)
  assert.equal(result.next, 'retry')
  assert.deepEqual(
    writes.map((write) => write.verb === 'patch' && write.patch.type),
    ['strategic'],
  )
})
