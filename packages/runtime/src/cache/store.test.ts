import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import { keysOf } from '../testing/index.ts'
import { getOrNotFound, listMatching } from './lister.ts'
import { ObjectTable } from './object-table.ts'
import { NAMESPACE_INDEX, Store, namespaceOf } from './store.ts'

const pod = (key: string, nodeName?: string, resourceVersion?: string): Pod => {
  const [namespace, name] = key.split('/')
  return { metadata: { namespace, name, resourceVersion }, spec: { nodeName } as Pod['spec'] }
}
const nodeOf = (object: Pod): readonly string[] =>
  object.spec?.nodeName ? [object.spec.nodeName] : []

function filled(...pods: readonly Pod[]): Store<Pod> {
  const store = new Store<Pod>()
  store.addIndexes({ node: nodeOf, [NAMESPACE_INDEX]: namespaceOf })
  for (const object of pods) store.set(object)
  return store
}

test('objects are found by key, by namespace and name, and by index value, and are the ones that were put in', () => {
  const a = pod('x/a', 'n1')
  const store = filled(a, pod('x/b', 'n2'), pod('y/a', 'n1'))
  assert.equal(store.getByKey('x/a'), a)
  assert.equal(store.get('x', 'a'), a)
  assert.deepEqual(keysOf(store.list()), ['x/a', 'x/b', 'y/a'])
  assert.deepEqual(keysOf(store.list('x')), ['x/a', 'x/b'])
  assert.deepEqual(keysOf(store.byIndex('node', 'n1')), ['x/a', 'y/a'])
  assert.deepEqual(store.indexKeys('node', 'n1'), ['x/a', 'y/a'])
  assert.deepEqual([...store.indexValues('node')].sort(), ['n1', 'n2'])
})

test('cluster-scoped objects have their name as key', () => {
  const store = new Store()
  store.set({ metadata: { name: 'n1' } })
  assert.ok(store.getByKey('n1'))
  assert.ok(store.get(undefined, 'n1'))
})

test('an update moves the index entries', () => {
  const store = filled(pod('x/a', 'n1'))
  store.set(pod('x/a', 'n2'))
  assert.deepEqual(store.byIndex('node', 'n1'), [])
  assert.deepEqual(keysOf(store.byIndex('node', 'n2')), ['x/a'])
})

test('Given the last object of an index value deleted, then the bucket is gone.', () => {
  const store = filled(pod('x/a', 'n1'), pod('x/b', 'n1'))
  store.delete('x/a')
  assert.deepEqual(store.indexValues('node'), ['n1'])
  store.delete('x/b')
  assert.deepEqual(store.indexValues('node'), [])
  assert.deepEqual(store.byIndex('node', 'n1'), [])
})

test('an object with several values is found under each, and sharing lists each object once', () => {
  const store = new Store<Pod>()
  store.addIndexes({ labels: (object) => Object.keys(object.metadata?.labels ?? {}) })
  const labelled = (name: string, ...labels: string[]): Pod => ({
    metadata: {
      namespace: 'x',
      name,
      labels: Object.fromEntries(labels.map((label) => [label, ''])),
    },
  })
  store.set(labelled('a', 'one', 'two'))
  store.set(labelled('b', 'one', 'two'))
  store.set(labelled('c', 'three'))
  assert.deepEqual(keysOf(store.byIndex('labels', 'two')), ['x/a', 'x/b'])
  assert.deepEqual(keysOf(store.sharingIndex('labels', labelled('q', 'one', 'two'))), [
    'x/a',
    'x/b',
  ])
  store.set(labelled('a', 'three'))
  assert.deepEqual(keysOf(store.byIndex('labels', 'two')), ['x/b'])
  assert.deepEqual(keysOf(store.byIndex('labels', 'three')), ['x/a', 'x/c'])
})

test('replace swaps everything and rebuilds indexes', () => {
  const store = filled(pod('x/a', 'n1'), pod('x/b', 'n1'))
  const table = new ObjectTable<Pod>()
  table.set(pod('x/b', 'n2'))
  table.set(pod('x/c', 'n1'))
  const before = store.replace(table, '7')
  assert.deepEqual(keysOf([...before]), ['x/a', 'x/b'])
  assert.deepEqual(keysOf(store.list()), ['x/b', 'x/c'])
  assert.deepEqual(store.indexKeys('node', 'n1'), ['x/c'])
  assert.equal(store.resourceVersion, '7')
})

test('indexes can be added with data present; a name clash changes nothing', () => {
  const store = filled(pod('x/a', 'n1'))
  store.addIndexes({ name: (object) => [object.metadata!.name!] })
  assert.deepEqual(keysOf(store.byIndex('name', 'a')), ['x/a'])
  assert.throws(
    () => store.addIndexes({ other: () => [], node: () => [] }),
    /indexer conflict: \[node\]/,
  )
  assert.throws(() => store.byIndex('other', ''), /Index with name other does not exist/)
  store.addIndexes({ node: nodeOf })
})

test('an error of an index function is not caught', () => {
  const store = new Store<Pod>()
  store.addIndexes({
    bad: () => {
      throw new Error('a defect')
    },
  })
  assert.throws(() => store.set(pod('x/a')), /a defect/)
})

test('the version is that of the last event, list or bookmark', () => {
  const store = new Store<Pod>()
  assert.equal(store.resourceVersion, '')
  store.set(pod('x/a', undefined, '3'))
  assert.equal(store.resourceVersion, '3')
  store.delete('x/a', '4')
  assert.equal(store.resourceVersion, '4')
  store.bookmark('9')
  assert.equal(store.resourceVersion, '9')
})

test("the namespace index is always there, and is nobody else's name", () => {
  const store = new Store<Pod>()
  store.set(pod('x/a'))
  store.set(pod('y/a'))
  assert.deepEqual(keysOf(store.list('y')), ['y/a'])
  assert.deepEqual(keysOf(store.byIndex(NAMESPACE_INDEX, 'y')), ['y/a'])
  assert.deepEqual(keysOf(store.sharingIndex(NAMESPACE_INDEX, pod('y/b'))), ['y/a'])
  assert.deepEqual(store.indexValues(NAMESPACE_INDEX), ['x', 'y'])
  store.delete('y/a')
  assert.deepEqual(store.indexValues(NAMESPACE_INDEX), ['x'])
  assert.throws(
    () => store.addIndexes({ [NAMESPACE_INDEX]: nodeOf }),
    /indexer conflict: \[namespace\]/,
  )
})

test('every index answers the newest state of an object, whether or not its values changed', () => {
  const store = filled(pod('x/a', 'n1'), pod('x/b', 'n1'), pod('x/c', 'n2'))
  for (const [key, node] of [
    ['x/a', 'n1'],
    ['x/c', 'n2'],
  ] as const) {
    const newer = pod(key, node, '8')
    store.set(newer)
    assert.ok(store.byIndex('node', node).includes(newer))
  }
  assert.deepEqual(keysOf(store.byIndex('node', 'n1')), ['x/a', 'x/b'])
  assert.deepEqual(keysOf(store.byIndex('node', 'n2')), ['x/c'])
  assert.equal(store.size, 3)
})

test('a list is a snapshot', () => {
  const store = filled(pod('x/a'))
  const listed = store.list()
  store.set(pod('x/b'))
  assert.equal(listed.length, 1)
})

test('a selector that accepts everything does not look at labels, one that accepts nothing does not scan', () => {
  const store = filled(pod('x/a'), pod('y/a'))
  assert.equal(listMatching(store, undefined).length, 2)
  assert.equal(listMatching(store, undefined, 'x').length, 1)
  assert.equal(
    listMatching({ ...store, list: () => assert.fail('scanned') } as never, 'nothing').length,
    0,
  )
  assert.equal(listMatching(store, (labels) => labels.app === 'a').length, 0)
})

test('a miss of the lister is a NotFound error of resource and name', () => {
  assert.throws(
    () => getOrNotFound(filled(), resources.pods, 'x', 'a'),
    (error) => isNotFound(error) && (error as Error).message === 'pods "a" not found',
  )
  assert.throws(
    () => getOrNotFound(new Store(), resources.deployments, 'x', 'a'),
    /^StatusError: deployments.apps "a" not found/,
  )
})
