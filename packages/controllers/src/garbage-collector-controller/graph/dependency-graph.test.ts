import assert from 'node:assert/strict'
import { test } from 'node:test'
import { foreignOwnerEvent } from './events.ts'
import { TestGraph, blocking, identity, names, object, owner, ref } from '../fixtures.ts'
import { identityOfReference } from './identity.ts'

const nothing = { check: [], checkLater: [], orphan: [] }
const brief = (consequences: ReturnType<TestGraph['add']>) => ({
  check: names(consequences.check),
  checkLater: names(consequences.checkLater),
  orphan: names(consequences.orphan),
})

test('an object without owners asks for nothing', () => {
  const graph = new TestGraph()
  assert.deepEqual(brief(graph.add(object('a'))), nothing)
  assert.equal(graph.node('a').isVirtual, false)
})

test('an owner that was not seen becomes a virtual node in the namespace of its dependent and is checked', () => {
  const graph = new TestGraph()
  assert.deepEqual(brief(graph.add(object('child', { owners: [ref('rc')] }))).check, ['rc'])
  const virtual = graph.node('rc')
  assert.equal(virtual.isVirtual, true)
  assert.deepEqual(virtual.identity, identityOfReference(ref('rc'), 'ns1'))
  assert.deepEqual(names(virtual.dependents), ['child'])
})

test('a virtual node that is seen with the claimed identity stays the same node', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  const virtual = graph.node('rc')
  assert.deepEqual(brief(graph.add(owner('rc'))), nothing)
  assert.equal(graph.node('rc'), virtual)
  assert.equal(virtual.isVirtual, false)
})

test('a virtual node that is seen with another identity is replaced, and dependents that disagree are checked', () => {
  const graph = new TestGraph()
  const wrong = ref('rc', { apiVersion: 'v2' })
  graph.add(object('wrong', { owners: [wrong] }))
  graph.add(object('right', { owners: [ref('rc')] }))
  const virtual = graph.node('rc')
  const seen = graph.add(owner('rc'))
  assert.deepEqual(names(seen.check), ['wrong'])
  assert.deepEqual(seen.foreignOwners, [])
  const real = graph.node('rc')
  assert.notEqual(real, virtual)
  assert.notEqual(real.id, virtual.id)
  assert.equal(real.identity.apiVersion, 'v1')
  assert.deepEqual(names(real.dependents), ['wrong', 'right'])
  assert.equal(
    virtual.isVirtual,
    true,
    'what is queued for the old node must see that it is another',
  )
})

test('A child in namespace A naming an owner in namespace B is garbage: deleted, with an event; the owner’s valid children in B must survive: child first', () => {
  const graph = new TestGraph()
  graph.add(object('bad', { namespace: 'a', owners: [ref('rc')] }))
  graph.add(object('good', { namespace: 'b', owners: [ref('rc')] }))
  const seen = graph.add(owner('rc', { namespace: 'b' }))
  assert.deepEqual(names(seen.check), ['bad'])
  assert.equal(seen.foreignOwners.length, 1)
  const event = foreignOwnerEvent(seen.foreignOwners[0]!)
  assert.deepEqual(event, {
    regarding: {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'bad', namespace: 'a', uid: 'bad-uid' },
    },
    type: 'Warning',
    reason: 'OwnerRefInvalidNamespace',
    message:
      'ownerRef [v1/ReplicationController, namespace: a, name: rc, uid: rc-uid] does not exist in namespace "a"',
  })
})

test('A child in namespace A naming an owner in namespace B is garbage: owner first', () => {
  const graph = new TestGraph()
  graph.add(owner('rc', { namespace: 'b' }))
  assert.deepEqual(
    brief(graph.add(object('good', { namespace: 'b', owners: [ref('rc')] }))),
    nothing,
  )
  const bad = graph.add(object('bad', { namespace: 'a', owners: [ref('rc')] }))
  assert.deepEqual(names(bad.check), ['bad'])
  assert.equal(bad.foreignOwners.length, 1)
})

test('a cluster-scoped child’s event has no namespace, so that it goes to default', () => {
  const graph = new TestGraph()
  graph.add(owner('rc', { namespace: 'b' }))
  const child = object('node', { kind: 'Node', namespace: '', owners: [ref('rc')] })
  const [foreign] = graph.add(child).foreignOwners
  const event = foreignOwnerEvent(foreign!)
  assert.equal('namespace' in event.regarding.metadata!, false)
  assert.match(event.message, /does not exist in namespace ""$/)
})

test('a suspect reference has the dependent checked, once, and nobody blamed while the owner is virtual', () => {
  for (const [first, second, why] of [
    [{ namespace: 'a' }, { namespace: 'b' }, 'another namespace'],
    [{}, { reference: { apiVersion: 'v2' } }, 'another apiVersion'],
    [{}, { reference: { kind: 'Other' } }, 'another kind'],
    [{}, { reference: { name: 'other' } }, 'another name'],
    [{ namespace: '' }, { namespace: 'b' }, 'a cluster-scoped claim of what may be namespaced'],
  ] as const) {
    const graph = new TestGraph()
    graph.add(object('first', { ...first, owners: [ref('rc')] }))
    const { reference, ...where } = { reference: {}, ...second }
    const added = graph.add(object('second', { ...where, owners: [ref('rc', reference)] }))
    assert.deepEqual(names(added.check), ['second'], why)
    assert.deepEqual(added.foreignOwners, [], why)
  }
})

test('a cluster-scoped owner that was seen may be referred to from any namespace', () => {
  const graph = new TestGraph()
  graph.add(object('n', { kind: 'Node', namespace: '' }))
  const reference = ref('n', { kind: 'Node' })
  assert.deepEqual(brief(graph.add(object('child', { owners: [reference] }))), nothing)
})

test('owner references that come and go are linked and unlinked', () => {
  const graph = new TestGraph()
  const before = object('child', { owners: [ref('a'), ref('b')] })
  graph.add(owner('a'))
  graph.add(owner('b'))
  graph.add(before)
  graph.update(before, object('child', { owners: [ref('b'), ref('c')] }))
  assert.deepEqual(names(graph.node('a').dependents), [])
  assert.deepEqual(names(graph.node('b').dependents), ['child'])
  assert.deepEqual(names(graph.node('c').dependents), ['child'])
})

test('Changing a ref from blocking to non-blocking re-checks the owner; the reverse does not', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  const holding = object('child', { owners: [blocking('rc')] })
  const free = object('child', { owners: [ref('rc', { blockOwnerDeletion: false })] })
  const unset = object('child', { owners: [ref('rc')] })
  graph.add(holding)
  assert.deepEqual(names(graph.update(holding, free).check), ['rc'])
  assert.deepEqual(names(graph.update(free, holding).check), [])
  assert.deepEqual(names(graph.update(holding, unset).check), ['rc'])
})

test('a blocking reference that is removed has its owner checked; one that did not block does not', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  graph.add(owner('other'))
  const before = object('child', { owners: [blocking('rc'), ref('other')] })
  graph.add(before)
  assert.deepEqual(names(graph.update(before, object('child')).check), ['rc'])
})

test('foreground deletion queues every dependent, blocking or not, and then the node', () => {
  const graph = new TestGraph()
  const rc = owner('rc')
  graph.add(rc)
  graph.add(object('one', { owners: [blocking('rc')] }))
  graph.add(object('two', { owners: [ref('rc')] }))
  const deleting = owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] })
  assert.deepEqual(brief(graph.update(rc, deleting)), { ...nothing, check: ['one', 'two', 'rc'] })
  assert.equal(graph.node('rc').isDeletingDependents, true)
  assert.equal(graph.node('rc').isBeingDeleted, true)
  assert.deepEqual(brief(graph.update(deleting, deleting)), nothing, 'it starts only once')
})

test('an object that is first seen in foreground deletion starts with its flags set', () => {
  const graph = new TestGraph()
  const added = graph.add(owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] }))
  assert.deepEqual(names(added.check), ['rc'])
  assert.equal(graph.node('rc').isDeletingDependents, true)
})

test('a finalizer that is added after the deletion began starts it too; one without a deletion does not', () => {
  const graph = new TestGraph()
  const plain = owner('rc')
  const deleting = owner('rc', { deleting: true, finalizers: ['x/y'] })
  graph.add(plain)
  const finalizers = ['foregroundDeletion']
  assert.deepEqual(brief(graph.update(plain, owner('rc', { finalizers }))), nothing)
  assert.deepEqual(brief(graph.update(plain, deleting)), nothing)
  const foreground = owner('rc', { deleting: true, finalizers: ['x/y', 'foregroundDeletion'] })
  assert.deepEqual(names(graph.update(deleting, foreground).check), ['rc'])
})

test('Both finalizers present: orphan wins in transitions', () => {
  const graph = new TestGraph()
  const added = graph.add(
    owner('rc', { deleting: true, finalizers: ['foregroundDeletion', 'orphan'] }),
  )
  assert.deepEqual(brief(added), { ...nothing, orphan: ['rc'] })
  assert.equal(graph.node('rc').isDeletingDependents, true, 'as it was first seen')
  const later = new TestGraph()
  const plain = owner('rc')
  later.add(plain)
  later.update(plain, owner('rc', { deleting: true, finalizers: ['foregroundDeletion', 'orphan'] }))
  assert.equal(later.node('rc').isDeletingDependents, false)
})

test('a delete unlinks the node, remembers it as absent and has its dependents checked', () => {
  const graph = new TestGraph()
  const rc = owner('rc', { owners: [ref('top')] })
  graph.add(owner('top'))
  graph.add(rc)
  graph.add(object('child', { owners: [ref('rc')] }))
  assert.deepEqual(brief(graph.delete(rc)), { ...nothing, check: ['child'] })
  assert.equal(graph.has('rc'), false)
  assert.deepEqual(names(graph.node('top').dependents), [])
  assert.equal(graph.absentOwners.has(identity(rc)), true)
})

test('a delete of something without dependents is not remembered', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  graph.delete(owner('rc'))
  assert.equal(graph.absentOwners.has(identity(owner('rc'))), false)
})

test('Foreground removal triggers when the last blocking dependent’s delete event arrives, because deletes queue deletingDependents owners', () => {
  const graph = new TestGraph()
  graph.add(owner('rc', { deleting: true, finalizers: ['foregroundDeletion'] }))
  graph.add(owner('other'))
  const child = object('child', { owners: [blocking('rc'), ref('other')] })
  graph.add(child)
  assert.deepEqual(names(graph.delete(child).check), ['rc'])
})

test('a delete of an unknown uid is ignored', () => {
  const graph = new TestGraph()
  assert.deepEqual(brief(graph.delete(owner('rc'))), nothing)
  assert.deepEqual(brief(graph.absent(identity(owner('rc')))), nothing)
})

test('a virtual node that is confirmed absent goes, and all its dependents are checked', () => {
  const graph = new TestGraph()
  graph.add(object('child', { owners: [ref('rc')] }))
  assert.deepEqual(brief(graph.absent(graph.node('rc').identity)), { ...nothing, check: ['child'] })
  assert.equal(graph.has('rc'), false)
})

test('One child with wrong coordinates for a uid must not cause siblings with right coordinates to be deleted, in any order of events: wrong child first, owner not seen', () => {
  const graph = new TestGraph()
  graph.add(object('wrong', { owners: [ref('rc', { apiVersion: 'v2' })] }))
  graph.add(object('right', { owners: [ref('rc')] }))
  const first = graph.node('rc')
  assert.equal(first.identity.apiVersion, 'v2')
  const absent = graph.absent(first.identity)
  assert.deepEqual(brief(absent), { ...nothing, check: ['wrong'], checkLater: ['rc'] })
  assert.equal(graph.absentOwners.has(first.identity), true)
  const second = graph.node('rc')
  assert.notEqual(second.id, first.id)
  assert.equal(second.isVirtual, true)
  assert.equal(second.identity.apiVersion, 'v1', 'the other identity is looked for next')
  assert.deepEqual([...absent.checkLater], [second])
  assert.equal(graph.absentOwners.has(second.identity), false)
})

test('an absent identity that is not the virtual node’s own leaves the node as it is', () => {
  const graph = new TestGraph()
  graph.add(object('right', { owners: [ref('rc')] }))
  graph.add(object('wrong', { owners: [ref('rc', { apiVersion: 'v2' })] }))
  const node = graph.node('rc')
  const claimed = identityOfReference(ref('rc', { apiVersion: 'v2' }), 'ns1')
  assert.deepEqual(brief(graph.absent(claimed)), { ...nothing, check: ['wrong'] })
  assert.equal(graph.node('rc'), node)
})

test('an observed node with other coordinates is kept; dependents that agree with the absent ones are checked', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  graph.add(object('wrong', { owners: [ref('rc', { apiVersion: 'v2' })] }))
  graph.add(object('right', { owners: [ref('rc')] }))
  const claimed = identityOfReference(ref('rc', { apiVersion: 'v2' }), 'ns1')
  assert.deepEqual(brief(graph.absent(claimed)), { ...nothing, check: ['wrong'] })
  assert.equal(graph.has('rc'), true)
  assert.equal(graph.absentOwners.has(claimed), true)
})

test('an observed node is removed by a live read that misses exactly it: its delete event was lost', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  graph.add(object('child', { owners: [ref('rc')] }))
  assert.deepEqual(names(graph.absent(identity(owner('rc'))).check), ['child'])
  assert.equal(graph.has('rc'), false)
})

test('Only blockOwnerDeletion true in the graph delays a foreground owner', () => {
  const graph = new TestGraph()
  graph.add(owner('rc'))
  graph.add(object('yes', { owners: [blocking('rc')] }))
  graph.add(object('no', { owners: [ref('rc', { blockOwnerDeletion: false })] }))
  graph.add(object('unset', { owners: [ref('rc'), blocking('other')] }))
  assert.deepEqual(names(graph.node('rc').blockingDependents()), ['yes'])
})

test('a new object with two references to one uid that differ is checked', () => {
  const graph = new TestGraph()
  const owners = [ref('rc'), ref('rc', { apiVersion: 'v2' })]
  assert.deepEqual(names(graph.add(object('child', { owners })).check), ['rc', 'child'])
})
