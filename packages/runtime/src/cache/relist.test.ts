/** What a relist leaves as it was, and for how long it holds the process up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@gyropilot/api'
import { resources } from '@gyropilot/api'
import { WorkClock, keysOf, testClock } from '../testing/index.ts'
import { informing, noting, pod } from './fixtures.ts'
import { ObjectTable } from './object-table.ts'
import { Store } from './store.ts'

const SIZE = 5_000
const INDEX_CALL_MS = 0.02
const LOOK_MS = 0.2
const MOST_MS = 50

const app = (number: number, value = 'web'): Pod =>
  pod(`p${number}`, { metadata: { uid: `uid-${number}`, labels: { app: value } } })
const appOf = ({ metadata }: Pod): readonly string[] => [metadata?.labels?.['app'] ?? '']

function tableOf(pods: readonly Pod[]): ObjectTable<Pod> {
  const table = new ObjectTable<Pod>()
  for (const object of pods) table.set(object)
  return table
}

/** A store of `SIZE` pods, and how often its index was asked since. */
function counted() {
  const pods = Array.from({ length: SIZE }, (_, number) => app(number))
  const store = new Store<Pod>()
  const asked = { calls: 0 }
  store.addIndexes({
    app(object) {
      asked.calls++
      return appOf(object)
    },
  })
  store.replace(tableOf(pods), '1')
  asked.calls = 0
  return { pods, store, asked }
}

test('an index is asked for what is different in a list, and for nothing else', () => {
  const { pods, store, asked } = counted()
  store.replace(tableOf(pods), '2')
  assert.equal(asked.calls, 0)
  const changed = [app(0, 'api'), ...pods.slice(2), app(SIZE, 'api')]
  store.replace(tableOf(changed), '3')
  // Changed: before and after; gone; new.
  assert.equal(asked.calls, 2 + 1 + 1)
  assert.deepEqual(store.indexKeys('app', 'api'), ['default/p0', `default/p${SIZE}`])
  assert.equal(store.byIndex('app', 'web').length, SIZE - 2)
  assert.equal(store.resourceVersion, '3')
})

test('while a list is being taken in readers see the one before, then the new one as a whole', () => {
  const { store } = counted()
  const next = Array.from({ length: SIZE }, (_, number) => app(number + 10, 'api'))
  const steps = store.replacing(tableOf(next), '2')
  let pauses = 0
  for (;;) {
    const step = steps.next()
    if (step.done === true) break
    pauses++
    assert.deepEqual(
      [store.byIndex('app', 'web').length, store.indexValues('app')],
      [SIZE, ['web']],
    )
    assert.ok(store.getByKey('default/p0'))
    assert.equal(store.resourceVersion, '1')
    if (pauses === 100) store.addIndexes({ late: appOf })
  }
  assert.ok(pauses > 200, `${pauses} pauses`)
  for (const name of ['app', 'late']) {
    assert.deepEqual([store.byIndex(name, 'api').length, store.indexValues(name)], [SIZE, ['api']])
  }
  assert.equal(store.getByKey('default/p0'), undefined)
})

for (const streams of [true, false]) {
  const how = streams ? 'streamed' : 'listed'

  test(`an object of the same uid and version is kept, one of another version or uid is not: ${how}`, async () => {
    // Nothing that is transformed again is the same object.
    const transform = (object: Pod): Pod => structuredClone(object)
    const { informer, server, clock, start, end } = informing({ watchList: streams, transform })
    for (const name of ['a', 'b', 'c']) server.put(resources.pods, pod(name))
    await start()
    const before = new Map(informer.lister.list().map((object) => [object.metadata!.name, object]))
    for (const watch of server.watches) watch.error({ code: 410, reason: 'Expired' })
    server.put(resources.pods, pod('b'))
    server.remove(resources.pods, pod('c'))
    server.put(resources.pods, pod('c'))
    await clock.advance(5_000)
    const now = (name: string) => informer.lister.get('default', name)
    assert.equal(now('a'), before.get('a'))
    assert.notEqual(now('b'), before.get('b'))
    assert.notEqual(now('c'), before.get('c'))
    assert.deepEqual(keysOf(informer.lister.list()), ['default/a', 'default/b', 'default/c'])
    await end()
  })

  test(`no turn of a large list is long, neither the first nor one in which all is changed: ${how}`, async () => {
    const inner = testClock()
    const clock = new WorkClock(inner, LOOK_MS)
    const { informer, server, start, end } = informing({ clock, watchList: streams })
    informer.addIndex('app', (object) => {
      clock.work(INDEX_CALL_MS)
      return appOf(object)
    })
    let updates = 0
    const late = noting()
    informer.addHandler({
      onUpdate() {
        // In the middle: others are still to be told of what is in the store already.
        if (++updates === 1) informer.addHandler(late.handler)
      },
    })
    const fill = (value: string): void => {
      for (let number = 0; number < SIZE; number++) server.put(resources.pods, app(number, value))
    }
    fill('web')
    void start()
    await inner.advanceUntil(() => informer.hasSynced(), 60_000)
    assert.ok(clock.longestTurnMs <= MOST_MS, `${clock.longestTurnMs} ms`)
    for (const watch of server.watches) watch.error({ code: 410, reason: 'Expired' })
    fill('api')
    await inner.advance(20_000)
    assert.ok(clock.longestTurnMs <= MOST_MS, `${clock.longestTurnMs} ms`)
    assert.equal(informer.lister.byIndex('app', 'api').length, SIZE)
    assert.equal(updates, SIZE)
    assert.equal(late.seen.length, SIZE, 'each once')
    await end()
  })
}
