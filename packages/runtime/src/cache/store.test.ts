import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { isNotFound } from '@gyropilot/client'
import type { StatusError } from '@gyropilot/client'
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

/** How often `replacing` pauses until it has put so many new pods in the place of so many others. */
function pausesOf(store: Store<Pod>, count: number): number {
  const table = new ObjectTable<Pod>()
  for (let at = 0; at < count; at++) table.set(pod(`new/${at}`, 'n1'))
  return [...store.replacing(table, '7')].length
}

test('replacing pauses after each 64 objects that it has looked at, new and old ones', () => {
  const store = filled(...Array.from({ length: 70 }, (_, at) => pod(`old/${at}`, 'n1')))
  assert.equal(pausesOf(store, 130), Math.floor((130 + 70) / 64))
  assert.equal(store.byIndex('node', 'n1').length, 130)
})

test('more than a thousand changes make new indexes, with pauses of their own', () => {
  assert.equal(pausesOf(filled(), 1_000), Math.floor(1_000 / 64))
  const store = filled()
  assert.equal(pausesOf(store, 1_001), 2 * Math.floor(1_001 / 64))
  assert.equal(store.byIndex('node', 'n1').length, 1_001)
})

test('an index that is there is not made again, and its keys are in order', () => {
  let asked = 0
  const indexes = {
    all: () => {
      asked++
      return ['all']
    },
  }
  const store = new Store<Pod>()
  store.addIndexes(indexes)
  store.set(pod('y/a'))
  store.set(pod('x/a'))
  store.addIndexes(indexes)
  assert.equal(asked, 2)
  assert.deepEqual(store.indexKeys('all', 'all'), ['x/a', 'y/a'])
})

test('values come and go beside one that stays; without any there is no entry', () => {
  const store = new Store<Pod>()
  store.addIndexes({ nodes: (object) => object.spec?.nodeName?.split(',').filter(Boolean) ?? [] })
  for (const nodes of ['', 'n1', 'n1,n2', 'n1', '']) {
    store.set(pod('x/a', nodes))
    assert.deepEqual(store.indexValues('nodes'), nodes.split(',').filter(Boolean))
  }
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

test('a selector answers what it accepts, and a miss says what was looked for', () => {
  const labelled = { ...pod('x/b'), metadata: { ...pod('x/b').metadata, labels: { app: 'a' } } }
  const store = filled(pod('x/a'), labelled)
  assert.deepEqual(keysOf(listMatching(store, ({ app }) => app === 'a')), ['x/b'])
  assert.throws(
    () => getOrNotFound(new Store(), resources.deployments, 'x', 'a'),
    (error: StatusError) => {
      assert.deepEqual(error.status.details, { name: 'a', group: 'apps', kind: 'deployments' })
      assert.equal(error.status.code, 404)
      return true
    },
  )
})
