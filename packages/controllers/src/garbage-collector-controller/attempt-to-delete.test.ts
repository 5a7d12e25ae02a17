import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { KubernetesObject, OwnerReference } from '@gyropilot/api'
import type { Outcome, Read, Write } from '@gyropilot/runtime'
import { drive } from '@gyropilot/runtime/testing'
import { attemptToDelete } from './attempt-to-delete.ts'
import type { GraphNode } from './graph/graph-node.ts'
import {
  CONFLICT,
  NOT_FOUND,
  TestGraph,
  UNSUPPORTED_MEDIA_TYPE,
  blocking,
  found,
  listed,
  names,
  object,
  owner,
  ref,
  refused,
  testCollector,
} from './fixtures.ts'
import { identityOfReference } from './graph/identity.ts'
import { OwnerNamespaceUnknownError, UnknownKindError } from './live-metadata.ts'
import { OrphanedOwners } from './orphaned-owners.ts'

interface Given {
  /** What the server holds; a read of anything else is NotFound. Read in this order where one name is there twice. */
  live?: readonly KubernetesObject[]
  onRead?: (read: Extract<Read, { verb: 'get' }>, index: number) => Outcome | undefined
  onWrite?: (write: Write, index: number) => Outcome | undefined
  cached?: readonly KubernetesObject[]
  orphanedOwners?: OrphanedOwners
}

function check(graph: TestGraph, node: GraphNode | string, given: Given = {}) {
  const reads: string[] = []
  const target = typeof node === 'string' ? graph.node(node) : node
  const driven = drive(attemptToDelete(target, testCollector(graph, given)), {
    onRead(read) {
      if (read.verb === 'discover') throw new Error('nothing here discovers')
      assert.equal(read.metadataOnly, true)
      if (read.verb === 'list') {
        reads.push(`list ${read.type.resource} ${read.namespace}`)
        const isListed = ({ kind, metadata }: KubernetesObject): boolean =>
          kind === read.type.kind && metadata?.namespace === read.namespace
        return listed(given.live?.filter(isListed) ?? [])
      }
      const { group, version, resource } = read.type
      reads.push([group, version, resource, read.namespace, read.name].filter(Boolean).join(' '))
      const answer = given.onRead?.(read, reads.length - 1)
      if (answer !== undefined) return answer
      const live = given.live?.find(
        ({ kind, metadata }) =>
          kind === read.type.kind &&
          metadata?.name === read.name &&
          metadata.namespace === read.namespace,
      )
      return live === undefined ? NOT_FOUND : found(live)
    },
    onWrite: given.onWrite,
  })
  return { checked: driven.result, writes: driven.writes, reads }
}

function deletions(writes: readonly Write[]) {
  return writes.map((write) => (write.verb === 'delete' ? { ...write.options } : write.verb))
}

test('1. a virtual node whose uid is gone or was seen meanwhile is forgotten', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  const virtual = graph.node('rc')
  graph.add(owner('rc', { apiVersion: 'v2' }))
  assert.deepEqual(check(graph, virtual), { checked: { next: 'forget' }, writes: [], reads: [] })
  graph.delete(owner('rc', { apiVersion: 'v2' }))
  assert.deepEqual(check(graph, virtual).checked, { next: 'forget' })
})

test('1. a virtual node that was replaced by another virtual one is still looked for', () => {
  const graph = new TestGraph()
  graph.add(object('one', { owners: [ref('rc')] }))
  graph.add(object('two', { owners: [ref('rc', { kind: 'ReplicaSet', apiVersion: 'apps/v1' })] }))
  const old = graph.node('rc')
  graph.absent(old.identity)
  assert.notEqual(graph.node('rc'), old)
  assert.deepEqual(check(graph, old).checked, { next: 'absent' })
})

test('2. an object that is being deleted is left alone', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')], deleting: true, finalizers: ['x/y'] }))
  assert.deepEqual(check(graph, 'child'), { checked: { next: 'done' }, writes: [], reads: [] })
})

test('2. an object without owners that was queued before it was seen is not read', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  const rc = graph.node('rc')
  graph.add(owner('rc'))
  assert.equal(graph.node('rc'), rc)
  assert.deepEqual(check(graph, rc), { checked: { next: 'done' }, writes: [], reads: [] })
})

test('3. not found, or found with another uid: the object does not exist', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  assert.deepEqual(check(graph, 'child').checked, { next: 'absent' })
  const namesake = object('child', { uid: 'other', owners: [ref('rc')] })
  assert.deepEqual(check(graph, 'child', { live: [namesake] }).checked, { next: 'absent' })
})

test('3. a read that fails is retried', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  const failure = refused(503, 'ServiceUnavailable')
  const { checked } = check(graph, 'child', { onRead: () => failure })
  assert.deepEqual(checked, { next: 'retry', error: !failure.ok && failure.error })
})

test('3. a kind that is not served is retried, a cluster-scoped claim of a namespaced kind forgotten', () => {
  const graph = new TestGraph()
  graph.add(object('unknown', { kind: 'Unheard', owners: [ref('other')] }))
  const { checked } = check(graph, 'unknown')
  assert.ok(checked.next === 'retry' && checked.error instanceof UnknownKindError)
  assert.equal(checked.error.message, 'no matches for kind "Unheard" in version "v1"')
  graph.add(object('n', { kind: 'Node', namespace: '', owners: [ref('rc')] }))
  assert.deepEqual(check(graph, 'rc').checked, { next: 'forget' })
})

test('4. a foreground owner waits for its blocking dependents and has those checked that do not wait themselves', () => {
  const graph = new TestGraph()
  const rc = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  graph.add(rc)
  graph.add(object('free', { owners: [ref('rc')] }))
  const free = { next: 'remove-finalizer', live: rc }
  assert.deepEqual(check(graph, 'rc', { live: [rc] }).checked, free)
  graph.add(object('one', { owners: [blocking('rc')] }))
  const waiting = { deleting: true, finalizers: ['foregroundDeletion'] }
  graph.add(object('two', { owners: [blocking('rc')], ...waiting }))
  // It ends by itself, and each of thousands would be checked again at each that goes.
  graph.add(object('ending', { owners: [blocking('rc')], deleting: true }))
  const { checked, reads } = check(graph, 'rc', { live: [rc] })
  assert.ok(checked.next === 'check-dependents')
  assert.deepEqual(names(checked.dependents), ['one'])
  assert.deepEqual(reads, [], 'they are judged by live reads of their own')
})

test('4. a blocking dependent that only the server knows holds up a foreground owner', () => {
  const graph = new TestGraph()
  const rc = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  graph.add(rc)
  const beside = object('beside', { owners: [blocking('other')] })
  const outcomes = [ref('rc'), blocking('rc')].map((reference) => {
    const unseen = object('unseen', { owners: [reference] })
    return check(graph, 'rc', { live: [rc, beside, unseen] })
  })
  assert.deepEqual(
    outcomes.map(({ checked }) => checked.next),
    ['remove-finalizer', 'later'],
  )
  assert.deepEqual(outcomes[0]?.reads, ['v1 replicationcontrollers ns1 rc', 'list pods ns1'])
})

test('a dependent that nobody saw when its owner was orphaned loses the reference and stays', () => {
  const orphanedOwners = new OrphanedOwners(10)
  orphanedOwners.add(owner('rc', { deleting: true }))
  const child = (createdAt: string, owners: readonly OwnerReference[]): KubernetesObject => {
    const { metadata, ...rest } = object('child', { owners })
    return { ...rest, metadata: { ...metadata, creationTimestamp: createdAt } }
  }
  const before = '2025-12-31T23:59:59Z'
  const cases: readonly (readonly [KubernetesObject, string, string])[] = [
    [child(before, [ref('rc')]), 'patch', 'done'],
    [child('2026-01-01T00:00:00Z', [ref('rc')]), 'patch', 'done'],
    [child('2026-01-01T00:00:01Z', [ref('rc')]), 'delete', 'done'],
    [child(before, [ref('gone')]), 'delete', 'done'],
    [child(before, [ref('gone'), ref('rc')]), 'patch', 'later'],
  ]
  for (const [live, verb, next] of cases) {
    const graph = new TestGraph()
    graph.add(live)
    const { checked, writes } = check(graph, 'child', { live: [live], orphanedOwners })
    assert.deepEqual([writes.map((write) => write.verb), checked.next], [[verb], next])
    const [write] = writes
    if (write?.verb !== 'patch') continue
    const ownerReferences = [{ $patch: 'delete', uid: 'rc-uid' }]
    const value = { metadata: { uid: 'child-uid', ownerReferences } }
    assert.deepEqual(write.patch, { type: 'strategic', value })
  }
})

test('a reference that could not be taken away is told, whatever else refers to others', () => {
  const orphanedOwners = new OrphanedOwners(10)
  orphanedOwners.add(owner('rc', { deleting: true }))
  const graph = new TestGraph()
  const live = object('child', { owners: [ref('gone'), ref('rc')] })
  graph.add(live)
  const given = { live: [live], orphanedOwners, onWrite: () => CONFLICT }
  const { checked } = check(graph, 'child', given)
  assert.deepEqual(checked, { next: 'retry', error: !CONFLICT.ok && CONFLICT.error })
})

test('5. an object whose owners were taken away meanwhile stays', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  const { checked, writes } = check(graph, 'child', { live: [object('child')] })
  assert.deepEqual([checked, writes], [{ next: 'done' }, []])
})

test('Never delete on cached absence alone: every decision rests on live GETs of item and owners', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('rc')] })
  graph.add(child)
  graph.absent(identityOfReference(ref('rc'), 'ns1'))
  const other = object('child', { owners: [ref('solid')] })
  const { writes, reads } = check(graph, 'child', { live: [other, owner('solid')] })
  assert.deepEqual(writes, [])
  assert.deepEqual(reads, ['v1 pods ns1 child', 'v1 replicationcontrollers ns1 solid'])
})

test('An owner with the same name but another uid counts as absent', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('rc')], resourceVersion: '7' })
  graph.add(child)
  const { checked, writes } = check(graph, 'child', { live: [child, owner('rc', { uid: 'new' })] })
  assert.deepEqual(checked, { next: 'done' })
  assert.deepEqual(deletions(writes), [
    {
      propagationPolicy: 'Background',
      preconditions: { uid: 'child-uid', resourceVersion: '7' },
    },
  ])
})

test('A ref with an unknown kind or unserved version blocks deletion (retry forever), it is not dangling', () => {
  for (const claim of [{ kind: 'Unheard' }, { apiVersion: 'v9' }]) {
    const graph = new TestGraph()
    const child = object('child', { owners: [ref('gone'), ref('rc', claim)] })
    graph.add(child)
    const { checked, writes } = check(graph, 'child', { live: [child] })
    assert.ok(checked.next === 'retry' && checked.error instanceof UnknownKindError)
    assert.deepEqual(writes, [])
  }
})

test('A ref with a served but non-preferred version of the owner must work: GET that version', () => {
  const graph = new TestGraph()
  const reference = ref('w', { apiVersion: 'example.com/v1beta1', kind: 'Widget' })
  const child = object('child', { owners: [reference] })
  graph.add(child)
  const live = [child, object('w', { apiVersion: 'example.com/v1', kind: 'Widget' })]
  const { checked, writes, reads } = check(graph, 'child', { live })
  assert.deepEqual([checked, writes], [{ next: 'done' }, []])
  assert.equal(reads[1], 'example.com v1beta1 widgets ns1 w')
})

test('A cluster-scoped child naming a namespaced owner is never deleted', () => {
  const graph = new TestGraph()
  const child = object('n', { kind: 'Node', namespace: '', owners: [ref('gone'), ref('rc')] })
  graph.add(child)
  assert.deepEqual(check(graph, 'n', { live: [child] }), {
    checked: { next: 'forget' },
    writes: [],
    reads: ['v1 nodes n'],
  })
  assert.equal(new OwnerNamespaceUnknownError().name, 'OwnerNamespaceUnknownError')
})

test('an owner that cannot be read leaves everything as it is', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('gone'), ref('rc')] })
  graph.add(child)
  const failure = refused(500, 'InternalError')
  const { checked, writes } = check(graph, 'child', {
    live: [child],
    onRead: (read) => (read.name === 'rc' ? failure : undefined),
  })
  assert.equal(checked.next, 'retry')
  assert.deepEqual(writes, [])
})

test('Given the same owner looked up for many children, then one GET after absence is cached', () => {
  const graph = new TestGraph()
  const children = Array.from({ length: 5 }, (_, i) => object(`c${i}`, { owners: [ref('rc')] }))
  for (const child of children) graph.add(child)
  const reads = children.flatMap(
    ({ metadata }) => check(graph, metadata!.name!, { live: children }).reads,
  )
  assert.deepEqual(
    reads.filter((read) => read.includes('replicationcontrollers')),
    ['v1 replicationcontrollers ns1 rc'],
  )
  assert.equal(reads.length, 6)
})

test('an absent cluster-scoped owner is remembered for all namespaces', () => {
  const graph = new TestGraph()
  const reference = ref('n', { kind: 'Node' })
  const one = object('one', { namespace: 'a', owners: [reference] })
  const two = object('two', { namespace: 'b', owners: [reference] })
  graph.add(one)
  graph.add(two)
  assert.equal(check(graph, 'one', { live: [one, two] }).reads.length, 2)
  const second = check(graph, 'two', { live: [one, two] })
  assert.deepEqual(second.reads, ['v1 pods b two'])
  assert.equal(second.writes.length, 1)
})

test('an absence in one namespace says nothing of another', () => {
  const graph = new TestGraph()
  const one = object('one', { namespace: 'a', owners: [ref('rc')] })
  const two = object('two', { namespace: 'b', owners: [ref('rc')] })
  graph.add(one)
  graph.add(two)
  const live = [one, two, owner('rc', { namespace: 'b' })]
  assert.equal(check(graph, 'one', { live }).writes.length, 1)
  assert.equal(check(graph, 'two', { live }).writes.length, 0)
})

test('A solid owner protects the child, but refs to waiting owners are still removed, or those owners hang', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('gone'), blocking('waiting'), ref('solid')] })
  graph.add(child)
  const waiting = owner('waiting', { deleting: true, finalizers: ['foregroundDeletion'] })
  const { checked, writes } = check(graph, 'child', { live: [child, waiting, owner('solid')] })
  assert.deepEqual(checked, { next: 'done' })
  assert.equal(writes.length, 1)
  const [write] = writes
  assert.ok(write?.verb === 'patch' && write.namespace === 'ns1' && write.name === 'child')
  assert.deepEqual(write.patch, {
    type: 'strategic',
    value: {
      metadata: {
        uid: 'child-uid',
        ownerReferences: [
          { $patch: 'delete', uid: 'gone-uid' },
          { $patch: 'delete', uid: 'waiting-uid' },
        ],
      },
    },
  })
})

test('an owner that is deleted in the background or orphans its dependents is solid until it is gone', () => {
  for (const finalizers of [['x/y'], ['orphan']]) {
    const graph = new TestGraph()
    const child = object('child', { owners: [ref('rc')] })
    graph.add(child)
    const { writes } = check(graph, 'child', {
      live: [child, owner('rc', { deleting: true, finalizers })],
    })
    assert.deepEqual(writes, [])
  }
})

test('custom resources are patched by merge, from the monitor’s copy', () => {
  const graph = new TestGraph()
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1' }
  const child = object('w', { ...widget, owners: [ref('gone'), ref('solid')] })
  graph.add(child)
  const newer = object('w', {
    ...widget,
    resourceVersion: '9',
    owners: [ref('gone'), ref('solid'), ref('other')],
  })
  const { checked, writes, reads } = check(graph, 'w', {
    live: [child, owner('solid')],
    cached: [newer],
    onWrite: (_, index) => (index === 0 ? UNSUPPORTED_MEDIA_TYPE : undefined),
  })
  assert.deepEqual(checked, { next: 'done' })
  const [, write] = writes
  assert.ok(write?.verb === 'patch')
  assert.deepEqual(write.patch, {
    type: 'merge',
    value: { metadata: { resourceVersion: '9', ownerReferences: [ref('solid'), ref('other')] } },
  })
  assert.equal(reads.filter((read) => read.endsWith(' w')).length, 1, 'no second live read')
})

test('custom resources without a copy of the right uid are read live', () => {
  const graph = new TestGraph()
  const widget = { kind: 'Widget', apiVersion: 'example.com/v1' }
  const child = object('w', {
    ...widget,
    resourceVersion: '3',
    owners: [ref('gone'), ref('solid')],
  })
  graph.add(child)
  const { writes } = check(graph, 'w', {
    live: [child, owner('solid')],
    cached: [object('w', { ...widget, uid: 'older', resourceVersion: '2' })],
    onWrite: (_, index) => (index === 0 ? UNSUPPORTED_MEDIA_TYPE : undefined),
  })
  const [, write] = writes
  assert.ok(write?.verb === 'patch')
  const value = { metadata: { resourceVersion: '3', ownerReferences: [ref('solid')] } }
  assert.deepEqual(write.patch, { type: 'merge', value })
})

test('8. an object that only waiting owners hold and that has dependents is deleted in the foreground', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [blocking('rc')], resourceVersion: '4' })
  graph.add(child)
  graph.add(object('grandchild', { owners: [blocking('child', { kind: 'Pod' })] }))
  const rc = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  const { writes } = check(graph, 'child', { live: [child, rc] })
  assert.deepEqual(deletions(writes), [
    {
      propagationPolicy: 'Foreground',
      preconditions: { uid: 'child-uid', resourceVersion: '4' },
    },
  ])
})

test('an object that only waiting owners hold and that has no dependents is deleted in the background', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [blocking('rc')] })
  graph.add(child)
  const rc = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  const [deletion] = deletions(check(graph, 'child', { live: [child, rc] }).writes)
  assert.equal(typeof deletion === 'object' && deletion.propagationPolicy, 'Background')
})

test('Dependency cycles must end: blocking refs are released when a dependent is in foreground deletion', () => {
  const graph = new TestGraph()
  const owners = [blocking('rc', { controller: true }), ref('other')]
  const child = object('child', { owners })
  graph.add(child)
  const waiting = { deleting: true, finalizers: ['foregroundDeletion'] }
  graph.add(object('dep', { ...waiting, owners: [blocking('child', { kind: 'Pod' })] }))
  const live = [child, owner('rc', waiting)]
  const { writes } = check(graph, 'child', { live })
  const [released, deleted] = writes
  assert.ok(released?.verb === 'patch')
  assert.deepEqual(released.patch, {
    type: 'strategic',
    value: {
      metadata: {
        ownerReferences: [ref('rc', { controller: true, blockOwnerDeletion: false })],
        uid: 'child-uid',
      },
    },
  })
  assert.ok(deleted?.verb === 'delete')
  assert.equal(deleted.options?.propagationPolicy, 'Foreground')
  const failed = check(graph, 'child', { live, onWrite: () => CONFLICT })
  assert.equal(failed.checked.next, 'retry')
  assert.equal(failed.writes.length, 1, 'no deletion without the release')
  graph.add(object('calm', { owners: [blocking('child', { kind: 'Pod' })] }))
  assert.equal(check(graph, 'child', { live }).writes.length, 2, 'one such dependent is enough')
})

test('An object that already had the orphan finalizer and loses all owners is deleted with Orphan', () => {
  for (const [finalizer, policy] of [
    ['orphan', 'Orphan'],
    ['foregroundDeletion', 'Foreground'],
    ['x/y', 'Background'],
  ]) {
    const graph = new TestGraph()
    const child = object('child', { owners: [ref('rc')], finalizers: [finalizer!] })
    graph.add(child)
    const [deletion] = deletions(check(graph, 'child', { live: [child] }).writes)
    assert.equal(typeof deletion === 'object' && deletion.propagationPolicy, policy)
  }
})

test('an object that is in deletion already, which the graph is about to show, is not deleted once more', () => {
  const waiting = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  // The grandchild asks for deletion in the foreground: that is another one than in the background.
  for (const [finalizers, hasGrandchild, isDeleted] of [
    [['x/y'], false, false],
    [['foregroundDeletion'], true, false],
    [['x/y'], true, true],
  ] as const) {
    const graph = new TestGraph()
    const child = { owners: [blocking('rc')], finalizers: [...finalizers] }
    graph.add(object('child', child))
    if (hasGrandchild)
      graph.add(object('grandchild', { owners: [blocking('child', { kind: 'Pod' })] }))
    const live = [object('child', { ...child, deleting: true }), waiting]
    const { writes, checked } = check(graph, 'child', { live })
    assert.equal(deletions(writes).length, isDeleted ? 1 : 0, String([finalizers, hasGrandchild]))
    assert.deepEqual(checked, { next: 'done' })
  }
})

test('Given a 409 on DELETE and unchanged owners, then a second DELETE with uid only', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('rc')], resourceVersion: '1' })
  graph.add(child)
  const updated = object('child', { owners: [ref('rc')], resourceVersion: '2' })
  const { checked, writes } = check(graph, 'child', {
    onRead: (read, index) =>
      read.name === 'child' ? found(index === 0 ? child : updated) : undefined,
    onWrite: (_, index) => (index === 0 ? CONFLICT : undefined),
  })
  assert.deepEqual(checked, { next: 'done' })
  assert.deepEqual(deletions(writes)[1], {
    propagationPolicy: 'Background',
    preconditions: { uid: 'child-uid' },
  })
})

test('a conflict on DELETE is returned when owners changed, the object is another, or nothing explains it', () => {
  for (const now of [
    object('child', { owners: [ref('rc'), ref('new')], resourceVersion: '2' }),
    object('child', { resourceVersion: '2' }),
    object('child', { owners: [ref('rc')], uid: 'other', resourceVersion: '2' }),
    object('child', { owners: [ref('rc')], resourceVersion: '1' }),
  ]) {
    const graph = new TestGraph()
    const child = object('child', { owners: [ref('rc')], resourceVersion: '1' })
    graph.add(child)
    const { checked, writes } = check(graph, 'child', {
      onRead: (read, index) =>
        read.name === 'child' ? found(index === 0 ? child : now) : undefined,
      onWrite: () => CONFLICT,
    })
    assert.deepEqual(checked, { next: 'retry', error: !CONFLICT.ok && CONFLICT.error })
    assert.equal(writes.length, 1)
  }
})

test('Given 404 on DELETE, then a virtual delete event', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('rc')] })
  graph.add(child)
  const first = check(graph, 'child', { live: [child], onWrite: () => NOT_FOUND })
  assert.deepEqual(first.checked, { next: 'absent' })
  const afterConflict = check(graph, 'child', {
    onRead: (read, index) => (read.name === 'child' && index === 0 ? found(child) : undefined),
    onWrite: () => CONFLICT,
  })
  assert.deepEqual(afterConflict.checked, { next: 'absent' })
  const afterSecond = check(graph, 'child', {
    onRead: (read, index) =>
      read.name === 'child'
        ? found(object('child', { owners: [ref('rc')], resourceVersion: String(index + 1) }))
        : undefined,
    onWrite: (_, index) => (index === 0 ? CONFLICT : NOT_FOUND),
  })
  assert.deepEqual(afterSecond.checked, { next: 'absent' })
})

test('One deletion costs GET item + GET per owner not in the cache + DELETE', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('one'), ref('two')] })
  graph.add(child)
  const { reads, writes } = check(graph, 'child', { live: [child] })
  assert.deepEqual([reads.length, writes.length], [3, 1])
})

test('many who are judged at the same time share the look at their owner, each is read for itself', () => {
  const graph = new TestGraph()
  const child = object('child', { owners: [ref('rc')] })
  graph.add(child)
  const shared: unknown[] = []
  check(graph, 'child', {
    live: [child, owner('rc')],
    onRead: (read) => void shared.push([read.name, read.shared === true]),
  })
  assert.deepEqual(shared, [
    ['child', false],
    ['rc', true],
  ])
})
